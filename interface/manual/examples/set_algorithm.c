/* Times a reduction by an algorithm of the program's choice. */
#include <shmemx.h>
#include <stdio.h>

static long source = 1, dest;

int main(void)
{
    shmem_init();
    if (shmemx_set_algorithm("reduce", "recursive_doubling") != 0)
        shmem_global_exit(1);
    shmem_barrier_all();
    double start = shmemx_wtime();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    double seconds = shmemx_wtime() - start;
    shmemx_set_algorithm("reduce", "auto");
    if (shmem_my_pe() == 0)
        printf("%ld%s\n", dest, seconds > 0 ? ", after some time" : "");
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./set_algorithm
 * 4, after some time */
