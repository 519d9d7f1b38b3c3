/* Each PE has a complex number for each PE. The PEs exchange the numbers, and once more their imaginary parts only. */
#include <shmem.h>
#include <stdio.h>

static float own[8][2], dest[8][2], parts[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++) {
        own[pe][0] = me;
        own[pe][1] = 10 * me + pe;
    }
    shmem_float_alltoall(SHMEM_TEAM_WORLD, dest[0], own[0], 2);
    shmem_float_alltoalls(SHMEM_TEAM_WORLD, parts, &own[0][1], 1, 2, 1);
    printf("PE %d: %g+%gi %g+%gi, %g %g\n", me, dest[0][0], dest[0][1],
           dest[1][0], dest[1][1], parts[0], parts[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./alltoall
 * PE 0: 0+0i 1+10i, 0 10
 * PE 1: 0+1i 1+11i, 1 11 */
