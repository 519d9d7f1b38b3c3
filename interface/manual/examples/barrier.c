/* Each PE loads a number of its right neighbour, and stores its own there. */
#include <shmem.h>
#include <stdio.h>

static int own, left;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    own = me * me;
    shmem_sync_all(); /* all have set their variable */
    int right = shmem_int_g(&own, next);
    shmem_int_p(&left, own, next);
    shmem_barrier_all(); /* all puts are complete */
    printf("PE %d: %d on the left, %d on the right\n", me, left, right);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./barrier
 * PE 0: 4 on the left, 1 on the right
 * PE 1: 0 on the left, 4 on the right
 * PE 2: 1 on the left, 0 on the right */
