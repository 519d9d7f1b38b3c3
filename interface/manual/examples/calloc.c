/* All PEs count in a table on PE 0 that begins with zeros. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    long *table = shmem_calloc(2, sizeof *table);
    if (table == NULL)
        shmem_global_exit(1);
    shmem_long_atomic_inc(&table[me % 2], 0);
    shmem_barrier_all();
    if (me == 0)
        printf("even %ld, odd %ld\n", table[0], table[1]);
    shmem_free(table);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./calloc
 * even 2, odd 1 */
