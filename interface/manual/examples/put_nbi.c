/* Each PE sends to all others, then completes all puts at once. */
#include <shmem.h>
#include <stdio.h>

static long from[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long value = 100 + me;
    for (int pe = 0; pe < npes; pe++)
        shmem_long_put_nbi(&from[me], &value, 1, pe);
    shmem_quiet(); /* from here on value may change */
    shmem_sync_all();
    printf("PE %d: %ld %ld %ld\n", me, from[0], from[1], from[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./put_nbi
 * PE 0: 100 101 102
 * PE 1: 100 101 102
 * PE 2: 100 101 102 */
