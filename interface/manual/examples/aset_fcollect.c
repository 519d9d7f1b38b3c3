/* All PEs get the numbers of all PEs. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_COLLECT_SYNC_SIZE];
static int source, dest[8];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe();
    source = me * me;
    shmem_fcollect32(dest, &source, 1, 0, 0, shmem_n_pes(), pSync);
    printf("PE %d: %d %d %d\n", me, dest[0], dest[1], dest[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./aset_fcollect
 * PE 0: 0 1 4
 * PE 1: 0 1 4
 * PE 2: 0 1 4 */
