/* Each PE puts its number into a block of its right neighbour. Then the block grows and keeps its content. */
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
    int *larger = shmem_realloc(from, 1000 * sizeof *from);
    if (larger == NULL)
        shmem_global_exit(1); /* the old block is still there */
    printf("PE %d: %d\n", me, larger[0]);
    shmem_free(larger);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./malloc
 * PE 0: 2
 * PE 1: 0
 * PE 2: 1 */
