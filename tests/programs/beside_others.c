/* PE 0 waits on a CPU that a busy process uses, too, until the system says that it was ready to run without a CPU
 * for a third of a second, and for a fifth of its time; with `for-ever`, for ever. */
#define _GNU_SOURCE
#include "neighbour.h"
#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static long pid, ready;

/* Leaves this process, and its children, only the CPU that it is on. */
static void stay(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* For how many seconds a process was ready to run without a CPU. */
static double waited(long process)
{
    char path[64];
    double ran, waited;
    snprintf(path, sizeof path, "/proc/%ld/schedstat", process);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%lf %lf", &ran, &waited) != 2)
        abort();
    fclose(file);
    return 1e-9 * waited;
}

int main(int argc, char **argv)
{
    int for_ever = argc > 1 && strcmp(argv[1], "for-ever") == 0;
    double begin = now();
    shmem_init();
    if (shmem_my_pe() == 0) {
        stay();
        pid_t neighbour = busy_neighbour();
        shmem_long_p(&pid, getpid(), 1);
        shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
        kill(neighbour, SIGKILL);
        waitpid(neighbour, NULL, 0);
    } else {
        shmem_long_wait_until(&pid, SHMEM_CMP_NE, 0);
        double before = waited(pid), more;
        do {
            usleep(20000);
            more = waited(pid) - before;
        } while (for_ever || more < 1 / 3.0 || more < (now() - begin) / 5);
        shmem_long_p(&ready, 1, 0);
    }
    shmem_finalize();
    return 0;
}
