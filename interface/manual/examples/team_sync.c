/* A barrier of the PEs with even numbers: a quiet, then the synchronisation. In C11 its name is shmem_sync, too. */
#include <shmem.h>
#include <stdio.h>

static int from = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_team_t even;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2,
                             NULL, 0, &even);
    if (even != SHMEM_TEAM_INVALID) {
        shmem_int_p(&from, me, (me + 2) % npes);
        shmem_quiet();
        shmem_team_sync(even);
        printf("PE %d: %d\n", me, from);
        shmem_team_destroy(even);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./team_sync
 * PE 0: 2
 * PE 2: 0 */
