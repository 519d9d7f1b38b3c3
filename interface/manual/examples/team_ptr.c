/* In a team that numbers the PEs in reverse, PE 0 of the team is the last of the job. */
#include <shmem.h>
#include <stdio.h>

static int number;

int main(void)
{
    shmem_init();
    int npes = shmem_n_pes();
    number = shmem_my_pe();
    shmem_team_t reverse;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes,
                             NULL, 0, &reverse);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        int *theirs = shmem_team_ptr(reverse, &number, 0);
        if (theirs != NULL)
            printf("PE 0 of the team is PE %d\n", *theirs);
    }
    shmem_team_destroy(reverse);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./team_ptr
 * PE 0 of the team is PE 3 */
