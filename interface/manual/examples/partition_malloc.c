/* A table in partition 1; from the heap if there is no such partition. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    long *table = shmemx_partition_malloc(1000 * sizeof *table, 1);
    if (table == NULL)
        table = shmem_malloc(1000 * sizeof *table);
    if (table == NULL)
        shmem_global_exit(1);
    shmem_long_p(&table[7], me, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("PE %d: %ld\n", me, table[7]);
    shmem_free(table);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M oshrun -n 2 ./partition_malloc
 * PE 0: 1
 * PE 1: 0 */
