/* Each PE has one element for each other PE: a transposed matrix. */
#include <shmem.h>
#include <stdio.h>

static int source[8], dest[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++)
        source[pe] = 10 * me + pe;
    shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
    printf("PE %d: %d %d %d\n", me, dest[0], dest[1], dest[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./alltoall
 * PE 0: 0 10 20
 * PE 1: 1 11 21
 * PE 2: 2 12 22 */
