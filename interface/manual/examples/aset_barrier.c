/* A barrier of the PEs with even numbers. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_BARRIER_SYNC_SIZE];
static int from = -1;

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me % 2 == 0) {
        shmem_int_p(&from, me, (me + 2) % npes);
        shmem_barrier(0, 1, (npes + 1) / 2, pSync);
        printf("PE %d: %d\n", me, from);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./aset_barrier
 * PE 0: 2
 * PE 2: 0 */
