// pes: 1 2 4 7 8 16
/* rule 7.6, rule 7.7: all PEs on the same words at once: nothing is lost, nothing is seen
 * twice. Words of 32 and 64 bits, reached through two contexts. */
#include "check.h"

enum { ROUNDS = 400 };
static int me, npes, rounds;

#define TEST(NAME, TYPE)                                                                  \
    static TYPE total_##NAME, tickets_##NAME, cas_##NAME, swapped_##NAME;                 \
    static TYPE taken_##NAME[MAX_PES * ROUNDS];                                           \
    static void test_##NAME(shmem_ctx_t ctx)                                              \
    {                                                                                     \
        TYPE carried = (TYPE)(me + 1);                                                    \
        for (int r = 0; r < rounds; r++) {                                                \
            shmem_##NAME##_atomic_inc(&total_##NAME, 0);                                  \
            shmem_ctx_##NAME##_atomic_add(ctx, &total_##NAME, (TYPE)2, 0);                \
            TYPE ticket = r % 2 ? shmem_##NAME##_atomic_fetch_inc(&tickets_##NAME, 0)     \
                                : shmem_ctx_##NAME##_atomic_fetch_add(ctx, &tickets_##NAME, (TYPE)1, 0); \
            shmem_##NAME##_atomic_inc(&taken_##NAME[ticket], 0);                          \
            for (;;) {                                                                    \
                TYPE old = shmem_##NAME##_atomic_fetch(&cas_##NAME, 0);                   \
                if (shmem_##NAME##_atomic_compare_swap(&cas_##NAME, old, (TYPE)(old + 3), 0) == old) \
                    break;                                                                \
            }                                                                             \
            /* values only change hands: in the end each is somewhere, once */            \
            carried = shmem_##NAME##_atomic_swap(&swapped_##NAME, carried, 0);            \
        }                                                                                 \
        static TYPE sum, carried_all;                                                     \
        sum = carried;                                                                    \
        shmem_barrier_all();                                                              \
        shmem_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, &carried_all, &sum, 1);               \
        if (me == 0) {                                                                    \
            CHECK_EQ(total_##NAME, (TYPE)(3 * npes * rounds));                            \
            CHECK_EQ(tickets_##NAME, (TYPE)(npes * rounds));                              \
            CHECK_EQ(cas_##NAME, (TYPE)(3 * npes * rounds));                              \
            CHECK_EQ(carried_all + swapped_##NAME, (TYPE)(npes * (npes + 1) / 2));        \
            for (int i = 0; i < npes * rounds; i++)                                       \
                CHECK_EQ(taken_##NAME[i], 1);                                             \
        }                                                                                 \
    }
AMO_STD(TEST)

#define TEST_BIT(NAME, TYPE)                                                              \
    static TYPE bits_##NAME, flips_##NAME;                                                \
    static void bit_##NAME(void)                                                          \
    {                                                                                     \
        const TYPE mine = (TYPE)1 << me;                                                  \
        for (int r = 0; r < rounds; r++) {                                                \
            CHECK_EQ((TYPE)(shmem_##NAME##_atomic_fetch_or(&bits_##NAME, mine, 0) & mine), 0); \
            CHECK_EQ((TYPE)(shmem_##NAME##_atomic_fetch_and(&bits_##NAME, (TYPE)~mine, 0) & mine), mine); \
            shmem_##NAME##_atomic_or(&bits_##NAME, mine, 0);                              \
            shmem_##NAME##_atomic_and(&bits_##NAME, (TYPE)~mine, 0);                      \
            shmem_##NAME##_atomic_xor(&flips_##NAME, mine, 0);                            \
            CHECK_EQ((TYPE)(shmem_##NAME##_atomic_fetch_xor(&flips_##NAME, mine, 0) & mine), mine); \
        }                                                                                 \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_##NAME##_g(&bits_##NAME, 0), 0);                                   \
        CHECK_EQ(shmem_##NAME##_g(&flips_##NAME, 0), 0);                                  \
    }
AMO_BIT(TEST_BIT)

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    rounds = check_rounds(ROUNDS);
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) != 0)
        ctx = SHMEM_CTX_DEFAULT;
#define RUN(NAME, TYPE) test_##NAME(ctx);
#define RUN_BIT(NAME, TYPE) bit_##NAME();
    AMO_STD(RUN)
    AMO_BIT(RUN_BIT)
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
