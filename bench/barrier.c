/* barrier [barriers]: prints microseconds for one shmem_barrier_all. Its counterpart
 * is barrier_raw.c. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    int barriers = argc > 1 ? atoi(argv[1]) : 20000;
    shmem_init();
    for (int i = 0; i < barriers / 10; i++)
        shmem_barrier_all();
    double start = now();
    for (int i = 0; i < barriers; i++)
        shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%.3f\n", (now() - start) / barriers);
    shmem_finalize();
    return 0;
}
