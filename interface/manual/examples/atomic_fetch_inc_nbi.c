/* Each PE draws a ticket on two PEs at a time. */
#include <shmem.h>
#include <stdio.h>

static long tickets;

int main(void)
{
    shmem_init();
    long mine[2];
    shmem_long_atomic_fetch_inc_nbi(&mine[0], &tickets, 0);
    shmem_long_atomic_fetch_inc_nbi(&mine[1], &tickets, 1);
    shmem_quiet(); /* the tickets are there */
    if (mine[0] >= shmem_n_pes() || mine[1] >= shmem_n_pes())
        shmem_global_exit(1);
    shmem_barrier_all();
    printf("%ld\n", tickets);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./atomic_fetch_inc_nbi
 * 2
 * 2 */
