/* Each PE reads the counters of all PEs, and waits once. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long found[8], sum = 0;
    shmem_long_atomic_set(&counter, me, me);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_fetch_nbi(&found[pe], &counter, pe);
    shmem_quiet();
    for (int pe = 0; pe < npes; pe++)
        sum += found[pe];
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_fetch_nbi
 * PE 0: 3
 * PE 1: 3
 * PE 2: 3 */
