/* Each PE stores its number on its right neighbour. */
#include <shmem.h>
#include <stdio.h>

static int left = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_int_p(&left, me, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("left of PE %d is PE %d\n", me, left);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./p
 * left of PE 0 is PE 2
 * left of PE 1 is PE 0
 * left of PE 2 is PE 1 */
