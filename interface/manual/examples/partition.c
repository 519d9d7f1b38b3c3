/* Counters in partition 1, which is kept in a file, so that the next job finds them again. PE 0 alone takes memory, too: it is not symmetric, but can be the source of a put. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmemx_partition_info_t info;
    long *runs = shmemx_partition_malloc(2 * sizeof *runs, 1);
    if (runs == NULL)
        shmem_global_exit(1);
    if (shmem_my_pe() == 0) {
        long *own = shmemx_partition_take(sizeof *own, 1);
        if (own == NULL)
            shmem_global_exit(1);
        *own = 9;
        shmem_long_put(&runs[1], own, 1, 1);
        shmemx_partition_give(own);
    }
    shmem_barrier_all();
    int id = shmemx_partition_of(runs);
    ++runs[0];
    if (shmemx_partition_persist(runs, 2 * sizeof *runs) != 0
        || shmemx_partition_info(id, &info) != 0)
        shmem_global_exit(1);
    if (shmem_my_pe() == 1)
        printf("run %ld: %ld in %s of %zu bytes\n", runs[0], runs[1],
               info.kind, info.size);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M:KIND=FILE:PATH=runs%p oshrun -n 2 ./partition
 * run 1: 9 in FILE of 1048576 bytes
 * $ SHMEM_SYMMETRIC_PARTITION1=1M:KIND=FILE:PATH=runs%p oshrun -n 2 ./partition
 * run 2: 9 in FILE of 1048576 bytes */
