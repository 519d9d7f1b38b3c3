/* PEs with even numbers form a team. Each stores its number on the next PE of the team: directly, or by a put if that is on another node. A quiet and the synchronisation make a barrier of the team. In C11 shmem_sync is another name of shmem_team_sync. */
#include <shmem.h>
#include <stdio.h>

static int from = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_team_t even;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2,
                                 NULL, 0, &even) != 0)
        shmem_global_exit(1);
    if (even != SHMEM_TEAM_INVALID) {
        int own = shmem_team_my_pe(even), n = shmem_team_n_pes(even);
        int next = (own + 1) % n;
        int pe = shmem_team_translate_pe(even, next, SHMEM_TEAM_WORLD);
        int *there = shmem_team_ptr(even, &from, next);
        if (there != NULL)
            *there = me;
        else
            shmem_int_p(&from, me, pe);
        shmem_quiet();
        shmem_team_sync(even);
        printf("PE %d, in the team %d of %d: from %d, to %d\n", me, own,
               n, from, pe);
        shmem_team_destroy(even);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 5 ./team
 * PE 0, in the team 0 of 3: from 4, to 2
 * PE 2, in the team 1 of 3: from 0, to 4
 * PE 4, in the team 2 of 3: from 2, to 0 */
