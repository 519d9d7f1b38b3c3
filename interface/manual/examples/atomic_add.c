/* All PEs add their number to a sum on PE 0. */
#include <shmem.h>
#include <stdio.h>

static long sum;

int main(void)
{
    shmem_init();
    shmem_long_atomic_add(&sum, shmem_my_pe(), 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 5 ./atomic_add
 * 10 */
