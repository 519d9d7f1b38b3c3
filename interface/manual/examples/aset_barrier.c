/* PEs with even numbers set a variable and wait for each other; then each stores its number on the next one. In C11 and C++ shmem_sync has a form for teams, too. */
#include <shmem.h>
#include <stdio.h>

static long pSync[2][SHMEM_BARRIER_SYNC_SIZE];
static int square, from;

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        pSync[0][i] = pSync[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me % 2 == 0) {
        int next = (me + 2) % npes;
        square = me * me;
        shmem_sync(0, 1, (npes + 1) / 2, pSync[0]);
        int theirs = shmem_int_g(&square, next);
        shmem_int_p(&from, me, next);
        shmem_barrier(0, 1, (npes + 1) / 2, pSync[1]);
        printf("PE %d: %d %d\n", me, theirs, from);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./aset_barrier
 * PE 0: 4 2
 * PE 2: 0 0 */
