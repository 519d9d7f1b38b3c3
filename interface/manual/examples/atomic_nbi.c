/* Each PE visits all PEs at once: it draws a ticket, reserves room, races for the lead and leaves its number. It waits once for what it has found. Then it reads how much room is reserved on each. */
#include <shmem.h>
#include <stdio.h>

static long tickets, used, lead = -1, last = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long mine[8], at[8], won[8], before[8], found[8];
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_atomic_fetch_inc_nbi(&mine[pe], &tickets, pe);
        shmem_long_atomic_fetch_add_nbi(&at[pe], &used, 10, pe);
        shmem_long_atomic_compare_swap_nbi(&won[pe], &lead, -1, me, pe);
        shmem_long_atomic_swap_nbi(&before[pe], &last, me, pe);
    }
    shmem_quiet(); /* everything is there */
    for (int pe = 0; pe < npes; pe++)
        if (mine[pe] >= npes || at[pe] % 10 || before[pe] == me)
            shmem_global_exit(1);
    if (won[0] == -1)
        printf("a PE has won\n");
    shmem_sync_all();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_fetch_nbi(&found[pe], &used, pe);
    shmem_quiet();
    printf("PE %d: %ld %ld\n", me, found[0], found[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./atomic_nbi
 * a PE has won
 * PE 0: 20 20
 * PE 1: 20 20 */
