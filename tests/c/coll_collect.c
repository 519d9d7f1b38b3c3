// pes: 1 2 3 4 7 8
// inline: no
/* rule 10b.2: collect with a different count from every PE, fcollect with equal ones. */
#include "coll.h"

enum { N = 20 };
static struct group groups[GROUPS];
static int ngroups;

#define TEST(NAME, TYPE, COLLECT, FCOLLECT, UNIT)                                         \
    static TYPE source_##NAME[N], dest_##NAME[MAX_PES * N + 1];                           \
    static void test_##NAME(uint64_t seed)                                                \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++) {                                               \
            struct group g = groups[k];                                                   \
            for (int i = 0; i < N; i++)                                                   \
                source_##NAME[i] = VALUE(TYPE, g.me, i);                                  \
            for (int round = 0; round < 6; round++) {                                     \
                int counts[MAX_PES], total = 0, equal = round % 2;                        \
                uint64_t same = seed + (uint64_t)(k * 1000 + round * 20);                 \
                for (int pe = 0; pe < g.size; pe++) {                                     \
                    counts[pe] = (int)check_random(&same, N + 1); /* also 0 */            \
                    if (equal)                                                            \
                        counts[pe] = counts[0];                                           \
                }                                                                         \
                for (int i = 0; i <= MAX_PES * N; i++)                                    \
                    dest_##NAME[i] = (TYPE)100;                                           \
                shmem_team_sync(g.team);                                                  \
                if (equal)                                                                \
                    CHECK_EQ(FCOLLECT(g.team, dest_##NAME, source_##NAME,                 \
                                      (size_t)counts[g.me] * UNIT), 0);                   \
                else                                                                      \
                    CHECK_EQ(COLLECT(g.team, dest_##NAME, source_##NAME,                  \
                                     (size_t)counts[g.me] * UNIT), 0);                    \
                for (int pe = 0; pe < g.size; total += counts[pe++])                      \
                    for (int i = 0; i < counts[pe]; i++)                                  \
                        CHECK_EQ(dest_##NAME[total + i], VALUE(TYPE, pe, i));             \
                for (int i = total; i <= MAX_PES * N; i++)                                \
                    CHECK_EQ(dest_##NAME[i], (TYPE)100);                                  \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
        }                                                                                 \
    }
#define TYPED(NAME, TYPE) TEST(NAME, TYPE, shmem_##NAME##_collect, shmem_##NAME##_fcollect, 1)
RMA_TYPES(TYPED)
TEST(mem, long, shmem_collectmem, shmem_fcollectmem, sizeof(long)) /* rule 10b.5 */

static void back_to_back(void) /* rule 10.6 */
{
    enum { R = 100 };
    static int source[4], dest[R][MAX_PES * 4];
    int npes = shmem_n_pes(), me = shmem_my_pe();
    for (int i = 0; i < 4; i++)
        source[i] = me * 4 + i;
    shmem_barrier_all();
    for (int r = 0; r < R; r++)
        if (r % 2)
            shmem_int_collect(SHMEM_TEAM_WORLD, dest[r], source, (size_t)((me + r) % 5));
        else
            shmem_int_fcollect(SHMEM_TEAM_WORLD, dest[r], source, 4);
    for (int r = 0; r < R; r++)
        for (int pe = 0, at = 0; pe < npes; pe++)
            for (int i = 0; i < (r % 2 ? (pe + r) % 5 : 4); i++)
                CHECK_EQ(dest[r][at++], pe * 4 + i);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    ngroups = make_groups(groups);
#define RUN(NAME, TYPE) test_##NAME(check_seed());
    RMA_TYPES(RUN)
    RUN(mem, )
    back_to_back();
    shmem_finalize();
    return 0;
}
