/* Each PE leaves its number on PE 0 and takes what it finds there. */
#include <shmem.h>
#include <stdio.h>

static long place = -1, sum;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    long found = shmem_long_atomic_swap(&place, me, 0);
    shmem_long_atomic_add(&sum, found, 0);
    shmem_barrier_all();
    /* Every number and -1 was found, but for the one that is left. */
    if (me == 0)
        printf("%ld\n", sum + place);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./atomic_swap
 * 5 */
