/* lock [rounds]: all PEs want one lock; prints microseconds for one hand-over. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long lock;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    shmem_init();
    shmem_barrier_all();
    double start = now();
    for (int i = 0; i < rounds; i++) {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%.3f\n", (now() - start) / rounds / shmem_n_pes());
    shmem_finalize();
    return 0;
}
