/* Each PE sets a variable of its right neighbour while others may read it. */
#include <shmem.h>
#include <stdio.h>

static long number = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_long_atomic_set(&number, me, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("PE %d: %ld\n", me, shmem_long_atomic_fetch(&number, me));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./atomic_set
 * PE 0: 1
 * PE 1: 0 */
