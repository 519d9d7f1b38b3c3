/* A counter in a file, which the next job finds again. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    long *runs = shmemx_partition_malloc(sizeof *runs, 1);
    if (runs == NULL)
        shmem_global_exit(1);
    ++*runs;
    if (shmemx_partition_persist(runs, sizeof *runs) != 0)
        shmem_global_exit(1);
    printf("run %ld\n", *runs);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M:KIND=FILE:PATH=./runs ./partition_persist
 * run 1
 * $ SHMEM_SYMMETRIC_PARTITION1=1M:KIND=FILE:PATH=./runs ./partition_persist
 * run 2 */
