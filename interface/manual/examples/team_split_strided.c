/* A team of the PEs with even numbers. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int npes = shmem_n_pes();
    shmem_team_t even;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2,
                                 NULL, 0, &even) != 0)
        shmem_global_exit(1);
    if (even != SHMEM_TEAM_INVALID) {
        printf("PE %d is PE %d of %d\n", shmem_my_pe(),
               shmem_team_my_pe(even), shmem_team_n_pes(even));
        shmem_team_destroy(even);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 5 ./team_split_strided
 * PE 0 is PE 0 of 3
 * PE 2 is PE 1 of 3
 * PE 4 is PE 2 of 3 */
