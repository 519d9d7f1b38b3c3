/* Each PE exchanges a value with its right neighbour. */
#include <shmem.h>
#include <stdio.h>

static long place = 7;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    long found;
    shmem_long_atomic_swap_nbi(&found, &place, me, right);
    shmem_quiet();
    shmem_barrier_all();
    printf("PE %d: found %ld, got %ld\n", me, found, place);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./atomic_swap_nbi
 * PE 0: found 7, got 1
 * PE 1: found 7, got 0 */
