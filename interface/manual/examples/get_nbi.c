/* Each PE fetches from all others, then waits for all gets at once. */
#include <shmem.h>
#include <stdio.h>

static long own;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long all[8];
    own = 100 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_get_nbi(&all[pe], &own, 1, pe);
    shmem_quiet(); /* from here on the values are there */
    printf("PE %d: %ld %ld %ld\n", me, all[0], all[1], all[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./get_nbi
 * PE 0: 100 101 102
 * PE 1: 100 101 102
 * PE 2: 100 101 102 */
