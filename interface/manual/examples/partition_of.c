/* Where three variables are. */
#include <shmemx.h>
#include <stdio.h>

static long global;

int main(void)
{
    shmem_init();
    long local;
    long *table = shmemx_partition_malloc(sizeof *table, 1);
    printf("partition: %d, global: %d, local: %d\n",
           shmemx_partition_of(table), shmemx_partition_of(&global),
           shmemx_partition_of(&local));
    shmem_free(table);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M oshrun -n 1 ./partition_of
 * partition: 1, global: -1, local: -2 */
