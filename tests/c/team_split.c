// pes: 1 2 3 4 7 8
/* Strided splits: every triplet of a small job, valid or not, against the definition. */
#include "check.h"

static int me, npes;

/* rule 4.5: numbered in triplet order; rule 4.3: others get SHMEM_TEAM_INVALID and 0 */
static void split(shmem_team_t parent, int start, int stride, int size)
{
    int n = shmem_team_n_pes(parent), pme = shmem_team_my_pe(parent), valid;
    long long last = start + (size - 1LL) * stride;
    valid = size > 0 && start >= 0 && start < n && last >= 0 && last < n &&
            (stride != 0 || size == 1);
    shmem_team_t team = SHMEM_TEAM_WORLD; /* must be overwritten */
    int result = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
    if (!valid) { /* rule 4.6, rule 4.7: the same for all */
        CHECK(result != 0);
        CHECK(team == SHMEM_TEAM_INVALID);
        return;
    }
    CHECK_EQ(result, 0);
    int mine = -1;
    for (int i = 0; i < size; i++)
        if (start + i * stride == pme)
            mine = i;
    CHECK_EQ(shmem_team_my_pe(team), mine);
    CHECK_EQ(shmem_team_n_pes(team), mine < 0 ? -1 : size);
    CHECK((team == SHMEM_TEAM_INVALID) == (mine < 0));
    if (mine < 0)
        return;
    /* rule 4.12 */
    for (int i = 0; i < size; i++) {
        CHECK_EQ(shmem_team_translate_pe(team, i, parent), start + i * stride);
        CHECK_EQ(shmem_team_translate_pe(parent, start + i * stride, team), i);
        CHECK_EQ(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD),
                 shmem_team_translate_pe(parent, start + i * stride, SHMEM_TEAM_WORLD));
    }
    for (int pe = 0; pe < n; pe++)
        if ((stride == 0 && pe != start) || (stride != 0 && ((pe - start) % stride != 0 ||
            (pe - start) / stride < 0 || (pe - start) / stride >= size)))
            CHECK_EQ(shmem_team_translate_pe(parent, pe, team), -1);
    /* rule 4.4: usable at once, and so is the parent */
    static long sum, mine_in;
    mine_in = mine + 1;
    CHECK_EQ(shmem_team_sync(team), 0);
    CHECK_EQ(shmem_long_sum_reduce(team, &sum, &mine_in, 1), 0);
    CHECK_EQ(sum, (long)size * (size + 1) / 2);
    CHECK_EQ(shmem_team_sync(team), 0);
    shmem_team_destroy(team);
}

static void split_all(shmem_team_t parent, int limit)
{
    int n = shmem_team_n_pes(parent), from = n < limit ? n : limit;
    for (int start = -1; start <= from; start++)
        for (int stride = -from; stride <= from; stride++)
            for (int size = -1; size <= from + 1; size++) {
                split(parent, start, stride, size);
                shmem_team_sync(parent);
            }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    /* rule 4.14, rule 4.15 */
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_SHARED) >= 0);
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) >= 1);
    CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_SHARED && SHMEM_TEAM_WORLD != SHMEM_TEAM_INVALID);
    split_all(SHMEM_TEAM_WORLD, 4);
    split(SHMEM_TEAM_WORLD, 0, 1, npes);
    split(SHMEM_TEAM_WORLD, npes - 1, -1, npes);
    split(SHMEM_TEAM_WORLD, 0, INT32_MAX, 2); /* no overflow into something valid */
    split(SHMEM_TEAM_WORLD, 0, 1, INT32_MAX);
    split(SHMEM_TEAM_WORLD, INT32_MAX, INT32_MAX, INT32_MAX);
    split(SHMEM_TEAM_WORLD, npes - 1, INT32_MIN, 2);
    split_all(SHMEM_TEAM_SHARED, 3);

    /* teams of teams: halves of halves, then one backwards */
    shmem_team_t team = SHMEM_TEAM_WORLD;
    for (int depth = 0; team != SHMEM_TEAM_INVALID && shmem_team_n_pes(team) > 1; depth++) {
        shmem_team_t half, back;
        int n = shmem_team_n_pes(team);
        split_all(team, 2);
        CHECK_EQ(shmem_team_split_strided(team, n - 1, -1, n, NULL, 0, &back), 0);
        CHECK_EQ(shmem_team_my_pe(back), n - 1 - shmem_team_my_pe(team));
        CHECK_EQ(shmem_team_split_strided(back, 0, 2, (n + 1) / 2, NULL, 0, &half), 0);
        shmem_team_destroy(back); /* the half does not need it any longer */
        if (half != SHMEM_TEAM_INVALID)
            CHECK_EQ(shmem_team_translate_pe(half, 0, team), n - 1);
        team = half;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
