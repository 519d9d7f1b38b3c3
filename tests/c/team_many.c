// pes: 1 2 4 7 8
/* Many teams: 64 alive at once, all working; and their room comes back on destroy
 * however often. rule 4.2, rule 4.13 */
#include "check.h"

enum { ALIVE = 64 };

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    static long in, out[MAX_PES];
    for (int again = 0; again < check_rounds(40); again++) {
        shmem_team_t teams[ALIVE];
        int starts[ALIVE], sizes[ALIVE];
        for (int t = 0; t < ALIVE; t++) {
            starts[t] = (t + again) % npes;
            sizes[t] = 1 + t % (npes - starts[t]);
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, starts[t], 1, sizes[t], NULL, 0,
                                              &teams[t]), 0);
        }
        for (int t = 0; t < ALIVE; t++) {
            int member = me >= starts[t] && me < starts[t] + sizes[t];
            CHECK((teams[t] != SHMEM_TEAM_INVALID) == member);
            for (int u = 0; u < t; u++)
                CHECK(teams[t] == SHMEM_TEAM_INVALID || teams[t] != teams[u]);
            if (!member)
                continue;
            in = me * 100 + t;
            shmem_team_sync(teams[t]);
            CHECK_EQ(shmem_long_fcollect(teams[t], out, &in, 1), 0);
            for (int i = 0; i < sizes[t]; i++)
                CHECK_EQ(out[i], (starts[t] + i) * 100 + t);
            shmem_team_sync(teams[t]);
        }
        for (int t = ALIVE - 1; t >= 0; t--) {
            int victim = (t * 5 + 3) % ALIVE; /* in another order than made */
            if (teams[victim] != SHMEM_TEAM_INVALID)
                shmem_team_destroy(teams[victim]);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
