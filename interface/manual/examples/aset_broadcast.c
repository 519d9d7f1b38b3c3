/* PE 0 gives an array to all others; its own dest stays as it was. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_BCAST_SYNC_SIZE];
static long source[1], dest[1];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    source[0] = 7;
    shmem_broadcast64(dest, source, 1, 0, 0, 0, shmem_n_pes(), pSync);
    printf("PE %d: %ld\n", shmem_my_pe(), dest[0]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./aset_broadcast
 * PE 0: 0
 * PE 1: 7
 * PE 2: 7 */
