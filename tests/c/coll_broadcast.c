// pes: 1 2 3 4 7 8
// inline: no
/* rule 10b.1, rule 10.1, rule 10.6: team broadcast of every type from every root,
 * back to back, with the same and with different arrays. */
#include "coll.h"

enum { N = 50, BIG = 70000 };
static struct group groups[GROUPS];
static int ngroups;

#define TEST(NAME, TYPE, BROADCAST, COUNT)                                                \
    static TYPE source_##NAME[N], dest_##NAME[2][N];                                      \
    static void test_##NAME(uint64_t seed)                                                \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++) {                                               \
            struct group g = groups[k];                                                   \
            for (int i = 0; i < N; i++)                                                   \
                source_##NAME[i] = VALUE(TYPE, g.me, i);                                  \
            shmem_team_sync(g.team);                                                      \
            for (int root = 0; root < g.size; root++) {                                   \
                TYPE *dest = dest_##NAME[root % 2];                                       \
                uint64_t state = seed + (uint64_t)(k * 1000 + root);                      \
                int n = (int)check_random(&state, N + 1); /* rule 0.4: also 0 */          \
                for (int i = 0; i < N; i++)                                               \
                    dest[i] = (TYPE)100;                                                  \
                /* rule 10.2: dest is ready everywhere before anyone calls */             \
                shmem_team_sync(g.team);                                                  \
                CHECK_EQ(BROADCAST(g.team, dest, source_##NAME, COUNT(n, TYPE), root), 0); \
                for (int i = 0; i < N; i++)                                               \
                    CHECK_EQ(dest[i], i < n ? VALUE(TYPE, root, i) : (TYPE)100);          \
            }                                                                             \
            for (int r = 0; r < 30; r++) { /* rule 10.6: no user synchronisation between */ \
                CHECK_EQ(BROADCAST(g.team, dest_##NAME[r % 2], source_##NAME, COUNT(3, TYPE), \
                                   r % g.size), 0);                                       \
                CHECK_EQ(dest_##NAME[r % 2][2], VALUE(TYPE, r % g.size, 2));              \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
        }                                                                                 \
    }
#define ELEMENTS(n, TYPE) ((size_t)(n))
#define BYTES(n, TYPE) ((size_t)(n) * sizeof(TYPE))
#define TYPED(NAME, TYPE) TEST(NAME, TYPE, shmem_##NAME##_broadcast, ELEMENTS)
RMA_TYPES(TYPED)
TEST(mem, long, shmem_broadcastmem, BYTES) /* rule 10b.5 */

/* The rule for 10.6 again with nothing at all between calls: each has its own dest. */
static void pipeline(void)
{
    static int source[8], dest[200][8];
    int npes = shmem_n_pes(), me = shmem_my_pe();
    for (int i = 0; i < 8; i++)
        source[i] = me * 8 + i;
    shmem_barrier_all();
    for (int r = 0; r < 200; r++)
        shmem_int_broadcast(SHMEM_TEAM_WORLD, dest[r], source, (size_t)(r % 9), r % npes);
    for (int r = 0; r < 200; r++)
        for (int i = 0; i < 8; i++)
            CHECK_EQ(dest[r][i], i < r % 9 ? r % npes * 8 + i : 0);
    shmem_barrier_all();
}

static void big(void)
{
    int npes = shmem_n_pes(), me = shmem_my_pe();
    long *source = shmem_malloc(BIG * sizeof *source), *dest = shmem_malloc(BIG * sizeof *dest);
    for (int root = 0; root < npes; root++) {
        for (int i = 0; i < BIG; i++)
            source[i] = me * 100000L + i + root;
        shmem_barrier_all();
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, BIG, root), 0);
        for (int i = 0; i < BIG; i++)
            CHECK_EQ(dest[i], root * 100000L + i + root);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    ngroups = make_groups(groups);
#define RUN(NAME, TYPE) test_##NAME(check_seed());
    RMA_TYPES(RUN)
    RUN(mem, )
    pipeline();
    big();
    shmem_finalize();
    return 0;
}
