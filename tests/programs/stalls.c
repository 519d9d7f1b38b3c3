/* stalls WHO: PE WHO ends the job with 0, and then stands still for a while; the others do something else. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    shmem_init();
    int who = argc > 1 ? atoi(argv[1]) : 0;
    shmem_barrier_all();
    if (shmem_my_pe() == who) {
        pid_t pe = getpid();
        if (fork() == 0) {
            usleep(50000);
            if (getppid() == pe) /* else it has ended */
                kill(pe, SIGSTOP);
            sleep(1);
            if (getppid() == pe)
                kill(pe, SIGCONT);
            _exit(0);
        }
        shmem_global_exit(0);
    }
    for (;;)
        sleep(1000);
}
