/* Each PE reads a number of its right neighbour. */
#include <shmem.h>
#include <stdio.h>

static double square;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    square = (double)me * me;
    shmem_barrier_all(); /* all have set their variable */
    printf("PE %d: %g\n", me, shmem_double_g(&square, right));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./g
 * PE 0: 1
 * PE 1: 4
 * PE 2: 0 */
