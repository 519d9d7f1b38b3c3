/* PE i has i elements. All PEs get all elements. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_COLLECT_SYNC_SIZE];
static int source[3], dest[8];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe();
    for (int i = 0; i < me; i++)
        source[i] = me;
    shmem_collect32(dest, source, me, 0, 0, shmem_n_pes(), pSync);
    printf("PE %d: %d %d %d\n", me, dest[0], dest[1], dest[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./aset_collect
 * PE 0: 1 2 2
 * PE 1: 1 2 2
 * PE 2: 1 2 2 */
