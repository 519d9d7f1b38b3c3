/* The number in the job of a team's PE 1, for routines that take no team. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int npes = shmem_n_pes();
    shmem_team_t reverse;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes,
                             NULL, 0, &reverse);
    int pe = shmem_team_translate_pe(reverse, 1, SHMEM_TEAM_WORLD);
    if (shmem_my_pe() == 0)
        printf("PE 1 of the team is PE %d\n", pe);
    shmem_team_destroy(reverse);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./team_translate_pe
 * PE 1 of the team is PE 2 */
