/* PEs with even numbers wait for each other. In C11 and C++ the name has a form for teams, too. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_BARRIER_SYNC_SIZE];
static int number;

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    number = me;
    if (me % 2 == 0) {
        shmem_sync(0, 1, (npes + 1) / 2, pSync);
        printf("PE %d: %d\n", me, shmem_int_g(&number, (me + 2) % npes));
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./aset_sync
 * PE 0: 2
 * PE 2: 0 */
