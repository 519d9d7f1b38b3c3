// pes: 1 2 3 4 7 8
// variants: all
/* wait_until and test of every type: six comparisons, signs, return values. */
#include "check.h"

static int me, npes, to, from;
static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                  SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

/* rule 11.4: by definition; rule 11.7: exactly 0 or 1 */
#define HOLDS(a, cmp, b)                                                                  \
    ((cmp) == SHMEM_CMP_EQ ? (a) == (b) : (cmp) == SHMEM_CMP_NE ? (a) != (b)              \
   : (cmp) == SHMEM_CMP_GT ? (a) > (b)  : (cmp) == SHMEM_CMP_GE ? (a) >= (b)              \
   : (cmp) == SHMEM_CMP_LT ? (a) < (b)  : (a) <= (b))

/* rule 11.1: short and ushort have the single forms too */
#define TEST(NAME, TYPE)                                                                  \
    static TYPE ivar_##NAME, others_##NAME[2];                                            \
    static void test_##NAME(void)                                                         \
    {                                                                                     \
        const TYPE values[] = {0, 1, (TYPE)-1, (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)), 77}; \
        for (int a = 0; a < 5; a++)                                                       \
            for (int b = 0; b < 5; b++)                                                   \
                for (int c = 0; c < 6; c++) {                                             \
                    ivar_##NAME = values[a];                                              \
                    int holds = HOLDS(values[a], comparisons[c], values[b]);              \
                    CHECK_EQ(shmem_##NAME##_test(&ivar_##NAME, comparisons[c], values[b]), holds); \
                    if (holds) /* at once */                                              \
                        shmem_##NAME##_wait_until(&ivar_##NAME, comparisons[c], values[b]); \
                }                                                                         \
        CHECK_EQ(others_##NAME[0], 0);                                                    \
        CHECK_EQ(others_##NAME[1], 0);                                                    \
    }
AMO_STD(TEST)
TEST(short, short)
TEST(ushort, unsigned short)

/* rule 11.2: sees atomics of another PE; rule 11.3: and what came before them */
#define REMOTE(NAME, TYPE)                                                                \
    static TYPE flag_##NAME;                                                              \
    static long data_##NAME[3];                                                           \
    static void remote_##NAME(void)                                                       \
    {                                                                                     \
        for (int round = 1; round <= 20; round++) {                                       \
            long out[3] = {me, round, me + round};                                        \
            shmem_long_put(data_##NAME, out, 3, to);                                      \
            shmem_fence();                                                                \
            switch (round % 4) {                                                          \
            case 0: shmem_##NAME##_atomic_set(&flag_##NAME, (TYPE)round, to); break;      \
            case 1: shmem_##NAME##_atomic_inc(&flag_##NAME, to); break;                   \
            case 2: shmem_##NAME##_atomic_add(&flag_##NAME, (TYPE)1, to); break;          \
            case 3: shmem_##NAME##_atomic_compare_swap(&flag_##NAME, (TYPE)(round - 1), (TYPE)round, to); break; \
            }                                                                             \
            if (round % 2)                                                                \
                shmem_##NAME##_wait_until(&flag_##NAME, SHMEM_CMP_EQ, (TYPE)round);       \
            else                                                                          \
                while (!shmem_##NAME##_test(&flag_##NAME, SHMEM_CMP_EQ, (TYPE)round))     \
                    ;                                                                     \
            CHECK_EQ(data_##NAME[0], from);                                               \
            CHECK_EQ(data_##NAME[1], round);                                              \
            CHECK_EQ(data_##NAME[2], from + round);                                       \
            shmem_barrier_all();                                                          \
        }                                                                                 \
    }
AMO_STD(REMOTE)

/* rule 11.12: the old forms */
#define OLD(NAME, TYPE)                                                                   \
    static TYPE old_##NAME;                                                               \
    static void old_wait_##NAME(void)                                                     \
    {                                                                                     \
        shmem_##NAME##_p(&old_##NAME, (TYPE)3, to);                                       \
        shmem_##NAME##_wait(&old_##NAME, 0);                                              \
        CHECK_EQ(old_##NAME, 3);                                                          \
    }
OLD(short, short)
OLD(int, int)
OLD(long, long)
OLD(longlong, long long)

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    to = (me + 1) % npes;
    from = (me + npes - 1) % npes;
#define RUN(NAME, TYPE) test_##NAME();
#define RUN_REMOTE(NAME, TYPE) remote_##NAME();
    AMO_STD(RUN)
    RUN(short, )
    RUN(ushort, )
    AMO_STD(RUN_REMOTE)
    old_wait_short();
    old_wait_int();
    old_wait_long();
    old_wait_longlong();
    shmem_barrier_all();
    static long bare;
    shmem_long_atomic_set(&bare, 9, to);
    shmem_wait(&bare, 0);
    (shmem_wait_until)(&bare, SHMEM_CMP_EQ, 9); /* rule 11.12: the C function, long-typed */
    shmem_finalize();
    return 0;
}
