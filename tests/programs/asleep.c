/* PEs that wait long for another node sleep: all but PE 0 use little CPU time in a barrier for which it is late. */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    shmem_init();
    for (int i = 0; i < 10; i++)
        shmem_barrier_all();
    double began = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (shmem_my_pe() == 0)
        usleep(500000);
    shmem_barrier_all();
    began = seconds(CLOCK_MONOTONIC) - began;
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    if (used > began / 4) {
        fprintf(stderr, "PE %d computed for %.3f of %.3f s\n", shmem_my_pe(), used, began);
        shmem_global_exit(1);
    }
    shmem_finalize();
    return 0;
}
