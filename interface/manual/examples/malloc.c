/* Each PE puts its number into a block of its right neighbour. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int *from = shmem_malloc(sizeof *from);
    if (from == NULL)
        shmem_global_exit(1);
    shmem_int_p(from, me, (me + 1) % npes);
    shmem_barrier_all();
    printf("PE %d: %d\n", me, *from);
    shmem_free(from);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./malloc
 * PE 0: 2
 * PE 1: 0
 * PE 2: 1 */
