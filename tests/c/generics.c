// pes: 1 2
// cflags: -std=c11 -D_GNU_SOURCE -Wno-deprecated-declarations
/* rule 15.11, rule 15.12, rule 14.3: the C11 generic names, each with every type of
 * its table, on arrays, const sources and computed pointers. */
#include "check.h"

static int me, to;
static const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
static uint64_t sig;

#define RMA(NAME, TYPE)                                                                   \
    static void rma_##NAME(void)                                                          \
    {                                                                                     \
        static TYPE object[8], source[8];                                                 \
        const TYPE *constant = source;                                                    \
        TYPE got[8];                                                                      \
        source[0] = (TYPE)3;                                                              \
        shmem_barrier_all();                                                              \
        shmem_put(object, source, 8, to);                                                 \
        shmem_put(ctx, object, constant, 8, to);                                          \
        shmem_put_nbi(object, source, 8, to);                                             \
        shmem_put_nbi(ctx, object + 1, constant, 1, to);                                  \
        shmem_iput(object + 2, constant, 2, 1, 2, to);                                    \
        shmem_iput(ctx, object + 2, source, 2, 1, 2, to);                                 \
        shmem_ibput(object + 2, source, 2, 2, 2, 1, to);                                  \
        shmem_ibput(ctx, object + 2, source, 2, 2, 2, 1, to);                             \
        shmem_p(object + 7, (TYPE)4, to);                                                 \
        shmem_p(ctx, object + 6, (TYPE)5, to);                                            \
        shmem_quiet();                                                                    \
        shmem_get(got, object, 8, to);                                                    \
        CHECK_EQ(got[0], (TYPE)3);                                                        \
        shmem_get(ctx, got, constant, 8, to);                                             \
        shmem_get_nbi(got, object, 8, to);                                                \
        shmem_get_nbi(ctx, got, object, 8, to);                                           \
        shmem_quiet();                                                                    \
        shmem_iget(got, constant, 1, 2, 2, to);                                           \
        shmem_iget(ctx, got, object, 1, 2, 2, to);                                        \
        shmem_ibget(got, object, 2, 2, 2, 1, to);                                         \
        shmem_ibget(ctx, got, object, 2, 2, 2, 1, to);                                    \
        CHECK_EQ(shmem_g(object + 7, to), (TYPE)4);                                       \
        CHECK_EQ(shmem_g(ctx, (const TYPE *)object + 6, to), (TYPE)5);                    \
        sig = 0;                                                                          \
        shmem_barrier_all();                                                              \
        shmem_put_signal(object, constant, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);             \
        shmem_put_signal(ctx, object, source, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);          \
        shmem_put_signal_nbi(object, source, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);           \
        shmem_put_signal_nbi(ctx, object, source, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);      \
        shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 4);                                   \
        static TYPE all[MAX_PES * 8];                                                     \
        shmem_team_t world = SHMEM_TEAM_WORLD;                                            \
        CHECK_EQ(shmem_broadcast(world, object, constant, 8, 0), 0);                      \
        CHECK_EQ(shmem_collect(world, all, source, 2), 0);                                \
        CHECK_EQ(shmem_sync(world), 0); /* all is free again everywhere: rule 10.2 */     \
        CHECK_EQ(shmem_fcollect(world, all, constant, 2), 0);                             \
        CHECK_EQ(shmem_sync(world), 0);                                                   \
        CHECK_EQ(shmem_alltoall(world, all, all + MAX_PES * 4, 1), 0);                    \
        CHECK_EQ(shmem_sync(world), 0);                                                   \
        CHECK_EQ(shmem_alltoalls(world, all, all + MAX_PES * 4, 1, 1, 1), 0);             \
        shmem_barrier_all();                                                              \
    }
RMA_TYPES(RMA)

#define AMO_ANY(NAME, TYPE)                                                               \
    static void any_##NAME(void)                                                          \
    {                                                                                     \
        static TYPE object[1];                                                            \
        TYPE fetched;                                                                     \
        shmem_atomic_set(object, (TYPE)1, to);                                            \
        shmem_atomic_set(ctx, object, (TYPE)2, to);                                       \
        CHECK_EQ(shmem_atomic_fetch(object, to), (TYPE)2);                                \
        CHECK_EQ(shmem_atomic_fetch(ctx, (const TYPE *)object, to), (TYPE)2);             \
        CHECK_EQ(shmem_atomic_swap(object, (TYPE)3, to), (TYPE)2);                        \
        CHECK_EQ(shmem_atomic_swap(ctx, object, (TYPE)4, to), (TYPE)3);                   \
        shmem_atomic_fetch_nbi(&fetched, object, to);                                     \
        shmem_atomic_fetch_nbi(ctx, &fetched, (const TYPE *)object, to);                  \
        shmem_atomic_swap_nbi(&fetched, object, (TYPE)5, to);                             \
        shmem_atomic_swap_nbi(ctx, &fetched, object, (TYPE)6, to);                        \
        shmem_quiet();                                                                    \
        CHECK_EQ(shmem_atomic_fetch(object, to), (TYPE)6);                                \
    }
AMO_EXT(AMO_ANY)

#define AMO_INTEGER(NAME, TYPE)                                                           \
    static void integer_##NAME(void)                                                      \
    {                                                                                     \
        static TYPE object[2], many[4];                                                   \
        TYPE fetched;                                                                     \
        size_t indices[4];                                                                \
        const TYPE values[4] = {0, 0, 0, 0};                                              \
        CHECK_EQ(shmem_atomic_compare_swap(object, (TYPE)0, (TYPE)1, to), (TYPE)0);       \
        CHECK_EQ(shmem_atomic_compare_swap(ctx, object, (TYPE)1, (TYPE)2, to), (TYPE)1);  \
        CHECK_EQ(shmem_atomic_fetch_inc(object, to), (TYPE)2);                            \
        CHECK_EQ(shmem_atomic_fetch_inc(ctx, object, to), (TYPE)3);                       \
        shmem_atomic_inc(object, to);                                                     \
        shmem_atomic_inc(ctx, object, to);                                                \
        CHECK_EQ(shmem_atomic_fetch_add(object, (TYPE)1, to), (TYPE)6);                   \
        CHECK_EQ(shmem_atomic_fetch_add(ctx, object, (TYPE)1, to), (TYPE)7);              \
        shmem_atomic_add(object, (TYPE)1, to);                                            \
        shmem_atomic_add(ctx, object, (TYPE)1, to);                                       \
        shmem_atomic_compare_swap_nbi(&fetched, object, (TYPE)10, (TYPE)20, to);          \
        shmem_atomic_compare_swap_nbi(ctx, &fetched, object, (TYPE)20, (TYPE)30, to);     \
        shmem_atomic_fetch_inc_nbi(&fetched, object, to);                                 \
        shmem_atomic_fetch_inc_nbi(ctx, &fetched, object, to);                            \
        shmem_atomic_fetch_add_nbi(&fetched, object, (TYPE)1, to);                        \
        shmem_atomic_fetch_add_nbi(ctx, &fetched, object, (TYPE)1, to);                   \
        shmem_quiet();                                                                    \
        CHECK_EQ(shmem_g(object, to), (TYPE)34);                                          \
        shmem_wait_until(many, SHMEM_CMP_EQ, (TYPE)0);                                    \
        shmem_wait_until_all(many, 4, NULL, SHMEM_CMP_EQ, (TYPE)0);                       \
        shmem_wait_until_any(many, 4, NULL, SHMEM_CMP_EQ, (TYPE)0);                       \
        shmem_wait_until_some(many, 4, indices, NULL, SHMEM_CMP_EQ, (TYPE)0);             \
        shmem_wait_until_all_vector(many, 4, NULL, SHMEM_CMP_EQ, values);                 \
        shmem_wait_until_any_vector(many, 4, NULL, SHMEM_CMP_EQ, values);                 \
        shmem_wait_until_some_vector(many, 4, indices, NULL, SHMEM_CMP_EQ, values);       \
        CHECK_EQ(shmem_test(many, SHMEM_CMP_EQ, (TYPE)0), 1);                             \
        CHECK_EQ(shmem_test_all(many, 4, NULL, SHMEM_CMP_EQ, (TYPE)0), 1);                \
        CHECK(shmem_test_any(many, 4, NULL, SHMEM_CMP_EQ, (TYPE)0) < 4);                  \
        CHECK_EQ(shmem_test_some(many, 4, indices, NULL, SHMEM_CMP_EQ, (TYPE)0), 4);      \
        CHECK_EQ(shmem_test_all_vector(many, 4, NULL, SHMEM_CMP_EQ, values), 1);          \
        CHECK(shmem_test_any_vector(many, 4, NULL, SHMEM_CMP_EQ, values) < 4);            \
        CHECK_EQ(shmem_test_some_vector(many, 4, indices, NULL, SHMEM_CMP_EQ, values), 4); \
    }
AMO_STD(AMO_INTEGER)

#define BITWISE(TYPE, object)                                                             \
    do {                                                                                  \
        TYPE fetched;                                                                     \
        shmem_atomic_or(object, (TYPE)3, to);                                             \
        shmem_atomic_or(ctx, object, (TYPE)4, to);                                        \
        CHECK_EQ(shmem_atomic_fetch_or(object, (TYPE)8, to), (TYPE)7);                    \
        CHECK_EQ(shmem_atomic_fetch_or(ctx, object, (TYPE)0, to), (TYPE)15);              \
        shmem_atomic_and(object, (TYPE)14, to);                                           \
        shmem_atomic_and(ctx, object, (TYPE)14, to);                                      \
        CHECK_EQ(shmem_atomic_fetch_and(object, (TYPE)12, to), (TYPE)14);                 \
        CHECK_EQ(shmem_atomic_fetch_and(ctx, object, (TYPE)12, to), (TYPE)12);            \
        shmem_atomic_xor(object, (TYPE)4, to);                                            \
        shmem_atomic_xor(ctx, object, (TYPE)1, to);                                       \
        CHECK_EQ(shmem_atomic_fetch_xor(object, (TYPE)9, to), (TYPE)9);                   \
        CHECK_EQ(shmem_atomic_fetch_xor(ctx, object, (TYPE)0, to), (TYPE)0);              \
        shmem_atomic_fetch_or_nbi(&fetched, object, (TYPE)1, to);                         \
        shmem_atomic_fetch_or_nbi(ctx, &fetched, object, (TYPE)1, to);                    \
        shmem_atomic_fetch_and_nbi(&fetched, object, (TYPE)1, to);                        \
        shmem_atomic_fetch_and_nbi(ctx, &fetched, object, (TYPE)1, to);                   \
        shmem_atomic_fetch_xor_nbi(&fetched, object, (TYPE)1, to);                        \
        shmem_atomic_fetch_xor_nbi(ctx, &fetched, object, (TYPE)1, to);                   \
        shmem_quiet();                                                                    \
        CHECK_EQ(shmem_atomic_fetch(object, to), (TYPE)1);                                \
    } while (0)
#define AMO_BITS(NAME, TYPE) static TYPE bits_##NAME[1];
AMO_BIT(AMO_BITS)

/* rule 15.11: the bitwise reductions take what the fixed-width names stand for */
#define REDUCE_BITS(NAME, TYPE)                                                           \
    static void reduce_bits_##NAME(void)                                                  \
    {                                                                                     \
        static TYPE in[2] = {6, 3}, out[2];                                               \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_and_reduce(SHMEM_TEAM_WORLD, out, in, 2), 0);                      \
        CHECK_EQ(out[0], 6);                                                              \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_or_reduce(SHMEM_TEAM_WORLD, out, (const TYPE *)in, 2), 0);         \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_xor_reduce(SHMEM_TEAM_WORLD, out, in, 2), 0);                      \
        shmem_barrier_all();                                                              \
    }
REDUCE_BIT(REDUCE_BITS)
#define REDUCE_MINMAX(NAME, TYPE)                                                         \
    static void reduce_order_##NAME(void)                                                 \
    {                                                                                     \
        static TYPE in[2], out[2];                                                        \
        CHECK_EQ(shmem_max_reduce(SHMEM_TEAM_WORLD, out, (const TYPE *)in, 2), 0);        \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_min_reduce(SHMEM_TEAM_WORLD, out, in, 2), 0);                      \
    }
REDUCE_ORDER(REDUCE_MINMAX)
#define REDUCE_SUMS(NAME, TYPE)                                                           \
    static void reduce_sum_##NAME(void)                                                   \
    {                                                                                     \
        static TYPE in[2] = {1, 1}, out[2];                                               \
        int npes = shmem_n_pes();                                                         \
        CHECK_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, out, in, 2), 0);                      \
        CHECK_EQ(out[1], (TYPE)npes);                                                     \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_prod_reduce(SHMEM_TEAM_WORLD, out, (const TYPE *)in, 2), 0);       \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_sum_inscan(SHMEM_TEAM_WORLD, out, in, 2), 0);                      \
        CHECK_EQ(out[0], (TYPE)(me + 1));                                                 \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_sum_exscan(SHMEM_TEAM_WORLD, out, (const TYPE *)in, 2), 0);        \
        CHECK_EQ(out[0], (TYPE)me);                                                       \
        shmem_barrier_all();                                                              \
    }
REDUCE_ARITHMETIC(REDUCE_SUMS)

static void names_that_are_both(void)
{
    static long psync[SHMEM_SYNC_SIZE], ivar;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    /* rule 10a.5: four arguments are the C function, one is the generic */
    shmem_sync(0, 0, shmem_n_pes(), psync);
    CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
    /* rule 11.12: generic here, though the C function is long-typed */
    static short s;
    shmem_wait_until(&ivar, SHMEM_CMP_EQ, 0);
    shmem_wait_until(&s, SHMEM_CMP_EQ, 0);
    CHECK_EQ(shmem_test(&s, SHMEM_CMP_EQ, 0), 1);
    shmem_signal_add(&sig, 1, to);
    shmem_signal_add(ctx, &sig, 1, to);
    shmem_signal_set(&sig, 1, to);
    shmem_signal_set(ctx, &sig, 1, to);
    /* old generics */
    static long l;
    static float f;
    shmem_set(&f, 1.5f, to);
    CHECK_EQ(shmem_fetch(&f, to), 1.5f);
    CHECK_EQ(shmem_swap(&l, 4L, to), 0);
    CHECK_EQ(shmem_cswap(&l, 4L, 5L, to), 4);
    CHECK_EQ(shmem_fadd(&l, 1L, to), 5);
    CHECK_EQ(shmem_finc(&l, to), 6);
    shmem_inc(&l, to);
    shmem_add(&l, 2L, to);
    CHECK_EQ(shmem_g(&l, to), 10);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    to = (me + 1) % shmem_n_pes();
#define RUN_RMA(NAME, TYPE) rma_##NAME();
#define RUN_ANY(NAME, TYPE) any_##NAME();
#define RUN_INTEGER(NAME, TYPE) integer_##NAME();
#define RUN_BITS(NAME, TYPE) BITWISE(TYPE, bits_##NAME);
#define RUN_REDUCE_BITS(NAME, TYPE) reduce_bits_##NAME();
#define RUN_ORDER(NAME, TYPE) reduce_order_##NAME();
#define RUN_SUMS(NAME, TYPE) reduce_sum_##NAME();
    RMA_TYPES(RUN_RMA)
    AMO_EXT(RUN_ANY)
    AMO_STD(RUN_INTEGER)
    AMO_BIT(RUN_BITS)
    /* rule 15.11: int and long are int32_t and int64_t */
    static int i_bits[1];
    static long l_bits[1];
    BITWISE(int, i_bits);
    BITWISE(long, l_bits);
    REDUCE_BIT(RUN_REDUCE_BITS)
    REDUCE_ORDER(RUN_ORDER)
    REDUCE_ARITHMETIC(RUN_SUMS)
    names_that_are_both();
    shmem_finalize();
    return 0;
}
