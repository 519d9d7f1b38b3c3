// pes: 1 2 3 4 7 8
// inline: no
/* rule 10b.3, rule 10b.4: all-to-all and its strided form of every type. */
#include "coll.h"

enum { N = 6, STRIDE = 4, ROOM = MAX_PES * N * STRIDE };
static struct group groups[GROUPS];
static int ngroups;

#define BLOCK_VALUE(TYPE, from, to, e) VALUE(TYPE, (from) * 3 + (to), e)

#define TEST(NAME, TYPE, ALLTOALL, UNIT)                                                  \
    static TYPE source_##NAME[MAX_PES * N], dest_##NAME[MAX_PES * N];                     \
    static void test_##NAME(uint64_t seed)                                                \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++) {                                               \
            struct group g = groups[k];                                                   \
            for (int round = 0; round < 3; round++) {                                     \
                int n = (int)check_random(&seed, N + 1);                                  \
                for (int pe = 0; pe < g.size; pe++)                                       \
                    for (int e = 0; e < n; e++)                                           \
                        source_##NAME[pe * n + e] = BLOCK_VALUE(TYPE, g.me, pe, e);       \
                for (int i = 0; i < MAX_PES * N; i++)                                     \
                    dest_##NAME[i] = (TYPE)100;                                           \
                shmem_team_sync(g.team);                                                  \
                CHECK_EQ(ALLTOALL(g.team, dest_##NAME, source_##NAME, (size_t)n * UNIT), 0); \
                for (int i = 0; i < MAX_PES * N; i++)                                     \
                    CHECK_EQ(dest_##NAME[i], n && i < n * g.size                          \
                                 ? BLOCK_VALUE(TYPE, i / n, g.me, i % n) : (TYPE)100);    \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
        }                                                                                 \
    }
#define STRIDED(NAME, TYPE, ALLTOALLS)                                                    \
    static TYPE from_##NAME[ROOM], to_##NAME[ROOM];                                       \
    static void strided_##NAME(uint64_t seed)                                             \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++) {                                               \
            struct group g = groups[k];                                                   \
            for (int round = 0; round < 3; round++) {                                     \
                int n = (int)check_random(&seed, N + 1);                                  \
                int dst = 1 + (int)check_random(&seed, STRIDE);                           \
                int sst = 1 + (int)check_random(&seed, STRIDE);                           \
                for (int i = 0; i < ROOM; i++) {                                          \
                    to_##NAME[i] = (TYPE)100;                                             \
                    from_##NAME[i] = (TYPE)99;                                            \
                }                                                                         \
                for (int pe = 0; pe < g.size; pe++)                                       \
                    for (int e = 0; e < n; e++)                                           \
                        from_##NAME[sst * (pe * n + e)] = BLOCK_VALUE(TYPE, g.me, pe, e); \
                shmem_team_sync(g.team);                                                  \
                CHECK_EQ(ALLTOALLS(g.team, to_##NAME, from_##NAME, dst, sst, (size_t)n), 0); \
                for (int i = 0; i < ROOM; i++) {                                          \
                    int element = i / dst, block = n ? element / n : 0;                   \
                    CHECK_EQ(to_##NAME[i], n && i % dst == 0 && block < g.size            \
                                 ? BLOCK_VALUE(TYPE, block, g.me, element % n) : (TYPE)100); \
                }                                                                         \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
        }                                                                                 \
    }
#define TYPED(NAME, TYPE)                                                                 \
    TEST(NAME, TYPE, shmem_##NAME##_alltoall, 1)                                          \
    STRIDED(NAME, TYPE, shmem_##NAME##_alltoalls)
RMA_TYPES(TYPED)
TEST(mem, long, shmem_alltoallmem, sizeof(long)) /* rule 10b.5 */
STRIDED(mem, unsigned char, shmem_alltoallsmem)

int main(void)
{
    shmem_init();
    ngroups = make_groups(groups);
#define RUN(NAME, TYPE)                                                                   \
    test_##NAME(check_seed());                                                            \
    strided_##NAME(check_seed());
    RMA_TYPES(RUN)
    RUN(mem, )
    shmem_finalize();
    return 0;
}
