/* The same with every second element of the source. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_ALLTOALLS_SYNC_SIZE];
static int source[16], dest[8];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_ALLTOALLS_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++)
        source[2 * pe] = 10 * me + pe;
    shmem_alltoalls32(dest, source, 1, 2, 1, 0, 0, npes, pSync);
    printf("PE %d: %d %d\n", me, dest[0], dest[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./aset_alltoalls
 * PE 0: 0 10
 * PE 1: 1 11 */
