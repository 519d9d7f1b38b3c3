/* A PE that comes to its end in the way its arguments say. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* A child that only sleeps, in this process group (0: one of its own). */
static pid_t sleeper(pid_t group)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, group);
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    setpgid(child, group);
    return child;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    int pe = count > 2 ? atoi(arguments[2]) : 0, status = count > 3 ? atoi(arguments[3]) : 0;
    if (strcmp(how, "start_pes") == 0) {
        /* As programs before version 1.2 of the specification: the end finalises. */
        start_pes(0);
        return 0;
    }
    if (strcmp(how, "absent") == 0 && atoi(getenv("ONESHMEM_PE")) == pe) {
        /* PE `pe` never initialises; the others wait for it. */
        return 0;
    }
    shmem_init();
    int me = shmem_my_pe();
    if (strcmp(how, "finalize") == 0) {
        /* All finalise. PE `pe` ends with this status; the others outlive it. */
        shmem_finalize();
        if (me == pe)
            return status;
        usleep(300000);
        puts("outlived");
        return 0;
    }
    if (strcmp(how, "regroup") == 0) {
        /* The other PE moves to the process group of one child and leaves another in its own. Then PE `pe` exits
           with this status, or if that is 0 nothing more happens. */
        if (me != pe) {
            sleeper(getpgrp());
            if (setpgid(0, sleeper(0)) != 0)
                perror("setpgid");
            puts("has moved");
            fflush(stdout);
        }
        shmem_barrier_all();
        if (me == pe && status > 0)
            exit(status);
        for (;;)
            pause();
    }
    if (me == pe && strcmp(how, "exit") == 0)
        exit(status);
    if (me == pe && strcmp(how, "abort") == 0)
        abort();
    if (me == pe && strcmp(how, "global_exit") == 0)
        shmem_global_exit(status);
    /* The others compute, or wait for PE `pe`. */
    for (volatile int turn = 0; strcmp(how, "global_exit") == 0;)
        turn++;
    shmem_barrier_all();
    shmem_finalize();
}
