/* Each PE sends to all PEs and fetches from all, and waits once for everything. */
#include <shmem.h>
#include <stdio.h>

static long own, from[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long value = 10 + me, all[8];
    own = 20 + me;
    shmem_sync_all();
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_put_nbi(&from[me], &value, 1, pe);
        shmem_long_get_nbi(&all[pe], &own, 1, pe);
    }
    shmem_quiet(); /* from here on value may change, and all is there */
    shmem_sync_all(); /* from is complete, too */
    printf("PE %d: %ld %ld, %ld %ld\n", me, from[0], from[1], all[0],
           all[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./nbi
 * PE 0: 10 11, 20 21
 * PE 1: 10 11, 20 21 */
