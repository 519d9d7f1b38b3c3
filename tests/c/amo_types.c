// pes: 1 2 3 4 7 8
// variants: all
/* Every atomic of every type, one PE at a time on each object: values returned
 * and values left. Contention is amo_contended.c's. rule 7.1, rule 7.3 */
#include "check.h"

#define CTX SHMEM_CTX_DEFAULT
static int me, npes, to;

#define OBJECT(NAME, TYPE) static TYPE object_##NAME[3];
AMO_EXT(OBJECT)

/* The neighbour's object is this PE's alone, its neighbours in memory stay as they are. */
#define LEFT(NAME, TYPE, WANT)                                                            \
    CHECK_EQ(shmem_##NAME##_atomic_fetch(&object_##NAME[1], to), (TYPE)(WANT));           \
    CHECK_EQ(shmem_##NAME##_g(&object_##NAME[0], to), (TYPE)0);                           \
    CHECK_EQ(shmem_##NAME##_g(&object_##NAME[2], to), (TYPE)0)
/* rule 7.2: the old value is there on return; rule 7.4: an _nbi form's after quiet */
#define RETURNS(TYPE, CALL, WANT) CHECK_EQ(CALL, (TYPE)(WANT))
#define FETCHES(TYPE, CALL, WANT)                                                         \
    do {                                                                                  \
        TYPE fetched = (TYPE)99;                                                          \
        CALL;                                                                             \
        shmem_quiet();                                                                    \
        CHECK_EQ(fetched, (TYPE)(WANT));                                                  \
    } while (0)

#define TEST_EXT(NAME, TYPE)                                                              \
    static void ext_##NAME(void)                                                          \
    {                                                                                     \
        TYPE *x = &object_##NAME[1];                                                      \
        const TYPE *cx = x; /* rule 7.5 */                                                \
        shmem_##NAME##_atomic_set(x, (TYPE)5, to);                                        \
        LEFT(NAME, TYPE, 5);                                                              \
        shmem_ctx_##NAME##_atomic_set(CTX, x, (TYPE)6, to);                               \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch(cx, to), 6);                            \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch(CTX, cx, to), 6);                   \
        RETURNS(TYPE, shmem_##NAME##_atomic_swap(x, (TYPE)7, to), 6);                     \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_swap(CTX, x, (TYPE)8, to), 7);            \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_nbi(&fetched, cx, to), 8);              \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_nbi(CTX, &fetched, cx, to), 8);     \
        FETCHES(TYPE, shmem_##NAME##_atomic_swap_nbi(&fetched, x, (TYPE)9, to), 8);       \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_swap_nbi(CTX, &fetched, x, (TYPE)3, to), 9); \
        LEFT(NAME, TYPE, 3);                                                              \
    }
AMO_EXT(TEST_EXT)

#define TEST_STD(NAME, TYPE)                                                              \
    static void std_##NAME(void)                                                          \
    {                                                                                     \
        TYPE *x = &object_##NAME[1];                                                      \
        const TYPE top = (TYPE)((TYPE)-1 < (TYPE)1 ? ((uint64_t)1 << (sizeof(TYPE) * 8 - 1)) - 1 \
                                             : (uint64_t)-1);                             \
        shmem_##NAME##_atomic_set(x, (TYPE)10, to);                                       \
        RETURNS(TYPE, shmem_##NAME##_atomic_compare_swap(x, (TYPE)9, (TYPE)1, to), 10);   \
        LEFT(NAME, TYPE, 10);                                                             \
        RETURNS(TYPE, shmem_##NAME##_atomic_compare_swap(x, (TYPE)10, (TYPE)11, to), 10); \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_compare_swap(CTX, x, (TYPE)11, (TYPE)12, to), 11); \
        FETCHES(TYPE, shmem_##NAME##_atomic_compare_swap_nbi(&fetched, x, (TYPE)12, (TYPE)13, to), 12); \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_compare_swap_nbi(CTX, &fetched, x, (TYPE)1, (TYPE)2, to), 13); \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_inc(x, to), 13);                        \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch_inc(CTX, x, to), 14);               \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_inc_nbi(&fetched, x, to), 15);          \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_inc_nbi(CTX, &fetched, x, to), 16); \
        shmem_##NAME##_atomic_inc(x, to);                                                 \
        shmem_ctx_##NAME##_atomic_inc(CTX, x, to);                                        \
        LEFT(NAME, TYPE, 19);                                                             \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_add(x, (TYPE)3, to), 19);               \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch_add(CTX, x, (TYPE)-2, to), 22);     \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_add_nbi(&fetched, x, (TYPE)1, to), 20); \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_add_nbi(CTX, &fetched, x, (TYPE)1, to), 21); \
        shmem_##NAME##_atomic_add(x, (TYPE)8, to);                                        \
        shmem_ctx_##NAME##_atomic_add(CTX, x, (TYPE)10, to);                              \
        LEFT(NAME, TYPE, 40);                                                             \
        /* rule 7.10: wraps, and stays within its width */                                \
        shmem_##NAME##_atomic_set(x, top, to);                                            \
        shmem_##NAME##_atomic_inc(x, to);                                                 \
        LEFT(NAME, TYPE, (TYPE)((uint64_t)top + 1));                                      \
        shmem_##NAME##_atomic_set(x, (TYPE)-1, to);                                       \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_add(x, (TYPE)1, to), (TYPE)-1);         \
        LEFT(NAME, TYPE, 0);                                                              \
    }
AMO_STD(TEST_STD)

#define TEST_BIT(NAME, TYPE)                                                              \
    static void bit_##NAME(void)                                                          \
    {                                                                                     \
        TYPE *x = &object_##NAME[1];                                                      \
        shmem_##NAME##_atomic_set(x, (TYPE)0xff, to);                                     \
        shmem_##NAME##_atomic_and(x, (TYPE)0x7e, to);                                     \
        shmem_ctx_##NAME##_atomic_and(CTX, x, (TYPE)0x7f, to);                            \
        LEFT(NAME, TYPE, 0x7e);                                                           \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_and(x, (TYPE)0x3c, to), 0x7e);          \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch_and(CTX, x, (TYPE)0x38, to), 0x3c); \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_and_nbi(&fetched, x, (TYPE)0x18, to), 0x38); \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_and_nbi(CTX, &fetched, x, (TYPE)0x10, to), 0x18); \
        shmem_##NAME##_atomic_or(x, (TYPE)1, to);                                         \
        shmem_ctx_##NAME##_atomic_or(CTX, x, (TYPE)2, to);                                \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_or(x, (TYPE)4, to), 0x13);              \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch_or(CTX, x, (TYPE)8, to), 0x17);     \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_or_nbi(&fetched, x, (TYPE)0x20, to), 0x1f); \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_or_nbi(CTX, &fetched, x, (TYPE)0x40, to), 0x3f); \
        shmem_##NAME##_atomic_xor(x, (TYPE)0x0f, to);                                     \
        shmem_ctx_##NAME##_atomic_xor(CTX, x, (TYPE)0x01, to);                            \
        RETURNS(TYPE, shmem_##NAME##_atomic_fetch_xor(x, (TYPE)0x03, to), 0x71);          \
        RETURNS(TYPE, shmem_ctx_##NAME##_atomic_fetch_xor(CTX, x, (TYPE)0x03, to), 0x72); \
        FETCHES(TYPE, shmem_##NAME##_atomic_fetch_xor_nbi(&fetched, x, (TYPE)0xff, to), 0x71); \
        FETCHES(TYPE, shmem_ctx_##NAME##_atomic_fetch_xor_nbi(CTX, &fetched, x, (TYPE)0xff, to), 0x8e); \
        LEFT(NAME, TYPE, 0x71);                                                           \
    }
AMO_BIT(TEST_BIT)

/* rule 7.9: floating-point values move as they are, every bit of them */
static void bit_patterns(void)
{
    static double d;
    static float f;
    const uint64_t doubles[] = {0x8000000000000000u, 0x7ff0000000000001u, 0x7ff8dead0000beefu, 1};
    const uint32_t floats[] = {0x80000000u, 0x7f800001u, 0x7fc0beefu, 1};
    for (int i = 0; i < 4; i++) {
        double dv, dgot;
        float fv, fgot;
        memcpy(&dv, &doubles[i], sizeof dv);
        memcpy(&fv, &floats[i], sizeof fv);
        shmem_double_atomic_set(&d, dv, to);
        shmem_float_atomic_set(&f, fv, to);
        dgot = shmem_double_atomic_fetch(&d, to);
        fgot = shmem_float_atomic_swap(&f, 0, to);
        CHECK(memcmp(&dgot, &dv, sizeof dv) == 0);
        CHECK(memcmp(&fgot, &fv, sizeof fv) == 0);
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    to = (me + 1) % npes;
#define RUN_EXT(NAME, TYPE) ext_##NAME();
#define RUN_STD(NAME, TYPE) std_##NAME();
#define RUN_BIT(NAME, TYPE) bit_##NAME();
    AMO_EXT(RUN_EXT)
    AMO_STD(RUN_STD)
    AMO_BIT(RUN_BIT)
    bit_patterns();
    shmem_finalize();
    return 0;
}
