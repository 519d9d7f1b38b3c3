/* The sum of the values of all PEs. */
#include <shmem.h>
#include <stdio.h>

static long source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = me + 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    if (me == 0)
        printf("%ld\n", dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./reduce_sum
 * 6 */
