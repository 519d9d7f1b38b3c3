// pes: 3 4 7 8
/* Overlapping teams in turn: what runs on one does not disturb another, and rule
 * 10.6: the next collective on the same team may follow at once. */
#include "check.h"

enum { ROUNDS = 150 };

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    /* each PE is in the team with the PE before and in the one with the PE after */
    shmem_team_t pair[MAX_PES];
    for (int i = 0; i + 1 < npes; i++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, i, 1, 2, NULL, 0, &pair[i]), 0);
    static long in[MAX_PES], sum[ROUNDS][MAX_PES], all[ROUNDS], world_in;
    for (int i = 0; i < npes; i++)
        in[i] = me * 10 + i;
    world_in = me;
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i + 1 < npes; i++)
            if (pair[i] != SHMEM_TEAM_INVALID)
                CHECK_EQ(shmem_long_sum_reduce(pair[i], &sum[r][i], &in[i], 1), 0);
        if (r % 3 == 0)
            CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all[r], &world_in, 1), 0);
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i + 1 < npes; i++)
            if (pair[i] != SHMEM_TEAM_INVALID)
                CHECK_EQ(sum[r][i], (2 * i + 1) * 10 + 2 * i);
        CHECK_EQ(all[r], r % 3 ? 0 : npes * (npes - 1) / 2);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
