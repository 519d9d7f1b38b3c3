// pes: 1 2 3 4 7 8
/* rule 4.8: two-dimensional splits with every width. */
#include "check.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int xrange = 1; xrange <= npes + 2; xrange++) {
        int width = xrange < npes ? xrange : npes; /* more acts as all */
        shmem_team_t x, y;
        CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y), 0);
        CHECK_EQ(shmem_team_my_pe(x), me % width);
        CHECK_EQ(shmem_team_my_pe(y), me / width);
        int row = me / width, rows = (npes + width - 1) / width;
        CHECK_EQ(shmem_team_n_pes(x), row == rows - 1 ? npes - row * width : width);
        CHECK_EQ(shmem_team_n_pes(y), (npes - me % width + width - 1) / width);
        for (int i = 0; i < shmem_team_n_pes(x); i++)
            CHECK_EQ(shmem_team_translate_pe(x, i, SHMEM_TEAM_WORLD), row * width + i);
        for (int i = 0; i < shmem_team_n_pes(y); i++)
            CHECK_EQ(shmem_team_translate_pe(y, i, SHMEM_TEAM_WORLD), i * width + me % width);
        /* both work at the same time, one after the other */
        static long in, out;
        in = me;
        shmem_team_sync(x);
        CHECK_EQ(shmem_long_max_reduce(x, &out, &in, 1), 0);
        CHECK_EQ(out, row * width + shmem_team_n_pes(x) - 1);
        shmem_team_sync(y);
        CHECK_EQ(shmem_long_min_reduce(y, &out, &in, 1), 0);
        CHECK_EQ(out, me % width);
        shmem_team_sync(y);
        shmem_team_destroy(x);
        shmem_team_destroy(y);
    }
    for (int bad = -2; bad <= 0; bad++) {
        shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, bad, NULL, 0, &x, NULL, 0, &y) != 0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
