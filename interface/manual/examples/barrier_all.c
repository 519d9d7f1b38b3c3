/* Puts are complete after the barrier. */
#include <shmem.h>
#include <stdio.h>

static int left;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_int_p(&left, me, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("PE %d: %d\n", me, left);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./barrier_all
 * PE 0: 1
 * PE 1: 0 */
