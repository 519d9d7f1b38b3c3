/* The smallest value of all PEs. */
#include <shmem.h>
#include <stdio.h>

static double source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = me - 0.5;
    shmem_double_min_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    if (me == 0)
        printf("%g\n", dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./reduce_min
 * -0.5 */
