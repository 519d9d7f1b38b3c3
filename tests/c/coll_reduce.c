// pes: 1 2 3 4 5 7 8
// variants: all
// inline: no
// cflags: -O1
/* Reductions and scans over teams, every type and operation, in place and not,
 * against a serial reference. rule 10c.1, rule 10c.7 */
#include "coll.h"
#include <math.h>

enum { N = 40 };
static struct group groups[GROUPS];
static int ngroups;

/* rule 10c.5: values whose sums and products are exact, so order cannot matter */
#define OPERAND(TYPE, pe, i) VALUE(TYPE, pe, (i) + 2)
#define REDUCTION(NAME, op) shmem_##NAME##_##op##_reduce

#define TEST(NAME, TYPE, OP, CALL, OPERAND)                                               \
    static TYPE source_##NAME##OP[N], dest_##NAME##OP[N];                                 \
    static void test_##NAME##OP(uint64_t seed)                                            \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++)                                                 \
            for (int round = 0; round < 4; round += check_far() ? 3 : 1) {                \
                struct group g = groups[k];                                               \
                int n = round < 2 ? N : (int)check_random(&seed, N); /* rule 0.4 */       \
                TYPE *dest = round % 2 ? source_##NAME##OP : dest_##NAME##OP; /* rule 10c.2 */ \
                for (int i = 0; i < N; i++) {                                             \
                    dest_##NAME##OP[i] = (TYPE)100;                                       \
                    source_##NAME##OP[i] = OPERAND(TYPE, g.me, i);                        \
                }                                                                         \
                shmem_team_sync(g.team);                                                  \
                CHECK_EQ(CALL(g.team, dest, source_##NAME##OP, (size_t)n), 0);            \
                for (int i = 0; i < n; i++) {                                             \
                    TYPE want = OPERAND(TYPE, 0, i);                                      \
                    for (int pe = 1; pe < g.size; pe++)                                   \
                        want = (TYPE)OP(want, OPERAND(TYPE, pe, i));                      \
                    CHECK_EQ(dest[i], want);                                              \
                    if (dest != source_##NAME##OP)                                        \
                        CHECK_EQ(source_##NAME##OP[i], OPERAND(TYPE, g.me, i));           \
                }                                                                         \
                for (int i = n; i < N; i++) /* nothing beyond the count */                \
                    CHECK_EQ(dest_##NAME##OP[i], (TYPE)100);                              \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
    }
REDUCE_BIT(BITWISE)
REDUCE_ORDER(ORDER)
REDUCE_ARITHMETIC(ARITHMETIC)

/* rule 10c.6: scans, inclusive and exclusive, all types of sum */
#define SCAN(NAME, TYPE)                                                                  \
    static TYPE source_scan_##NAME[N], dest_scan_##NAME[N];                               \
    static void scan_##NAME(uint64_t seed)                                                \
    {                                                                                     \
        for (int k = 0; k < ngroups; k++)                                                 \
            for (int round = 0; round < 8; round += check_far() ? 3 : 1) {                \
                struct group g = groups[k];                                               \
                int inclusive = round / 2 % 2;                                            \
                int n = round < 4 ? N : (int)check_random(&seed, N);                      \
                TYPE *dest = round % 2 ? source_scan_##NAME : dest_scan_##NAME;           \
                for (int i = 0; i < N; i++) {                                             \
                    dest_scan_##NAME[i] = (TYPE)100;                                      \
                    source_scan_##NAME[i] = OPERAND(TYPE, g.me, i);                       \
                }                                                                         \
                shmem_team_sync(g.team);                                                  \
                CHECK_EQ((inclusive ? shmem_##NAME##_sum_inscan : shmem_##NAME##_sum_exscan)( \
                             g.team, dest, source_scan_##NAME, (size_t)n), 0);            \
                for (int i = 0; i < n; i++) {                                             \
                    TYPE want = 0;                                                        \
                    for (int pe = 0; pe < g.me + inclusive; pe++)                         \
                        want = (TYPE)(want + OPERAND(TYPE, pe, i));                       \
                    CHECK_EQ(dest[i], want);                                              \
                }                                                                         \
                for (int i = n; i < N; i++)                                               \
                    CHECK_EQ(dest_scan_##NAME[i], (TYPE)100);                             \
                shmem_team_sync(g.team);                                                  \
            }                                                                             \
    }
REDUCE_ARITHMETIC(SCAN)

/* Signs, and the ends of a type's range: max, min and wrapping sums are the type's own. */
static void extremes(void)
{
    static signed char c[2], c_out[2];
    static unsigned u[2], u_out[2];
    static long double l[1], l_out[1];
    static double _Complex z[1], z_out[1];
    int me = shmem_my_pe(), npes = shmem_n_pes();
    c[0] = (signed char)(me == 0 ? -128 : me);
    c[1] = (signed char)(me == npes - 1 ? 127 : -me);
    u[0] = me == 0 ? 0xffffffffu : 1;
    u[1] = me == npes - 1 ? 0x80000000u : 0x7fffffffu;
    /* needs the 64 bits of a long double's fraction, and both parts of a complex */
    l[0] = me == 0 ? 9223372036854775808.0L : 1.0L;
    z[0] = (double)(me + 1) + 2.0i * (double)(me + 1);
    shmem_barrier_all();
    CHECK_EQ(shmem_schar_min_reduce(SHMEM_TEAM_WORLD, c_out, c, 2), 0);
    CHECK_EQ(c_out[0], -128);
    shmem_barrier_all();
    CHECK_EQ(shmem_schar_max_reduce(SHMEM_TEAM_WORLD, c_out, c, 2), 0);
    CHECK_EQ(c_out[1], 127);
    CHECK_EQ(shmem_uint_sum_reduce(SHMEM_TEAM_WORLD, u_out, u, 1), 0);
    CHECK_EQ(u_out[0], 0xffffffffu + (unsigned)(npes - 1));
    shmem_barrier_all();
    CHECK_EQ(shmem_uint_max_reduce(SHMEM_TEAM_WORLD, u_out, u, 2), 0);
    CHECK_EQ(u_out[1], 0x80000000u);
    CHECK_EQ(shmem_longdouble_sum_reduce(SHMEM_TEAM_WORLD, l_out, l, 1), 0);
    CHECK_EQ(l_out[0], 9223372036854775808.0L + (npes - 1));
    CHECK_EQ(shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, z_out, z, 1), 0);
    CHECK(z_out[0] == npes * (npes + 1) / 2 * (1.0 + 2.0i));
    shmem_barrier_all();
    /* i to the power of the number of PEs */
    z[0] = 1.0i;
    shmem_barrier_all();
    CHECK_EQ(shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, z_out, z, 1), 0);
    static const double re[] = {1, 0, -1, 0}, im[] = {0, 1, 0, -1};
    CHECK(z_out[0] == re[npes % 4] + im[npes % 4] * 1.0i);
    shmem_barrier_all();
}

/* Maximum and minimum are IEEE 754-2019's: NaN if one PE has one, and -0 < +0. */
#define NAN_AND_ZEROS(NAME, TYPE)                                                         \
    static void special_##NAME(void)                                                      \
    {                                                                                     \
        static TYPE source[N], max[N], min[N];                                            \
        int me = shmem_my_pe(), npes = shmem_n_pes();                                     \
        for (int i = 0; i < N; i++) /* a NaN at PE i, and beyond them zeros, of which PE i % npes has one kind */ \
            source[i] = i < npes ? (i == me ? (TYPE)NAN : me + 1) : (i % npes == me) == (i % 2) ? (TYPE)-0.0 : 0; \
        shmem_barrier_all();                                                              \
        CHECK_EQ(shmem_##NAME##_max_reduce(SHMEM_TEAM_WORLD, max, source, N), 0);         \
        CHECK_EQ(shmem_##NAME##_min_reduce(SHMEM_TEAM_WORLD, min, source, N), 0);         \
        for (int i = 0; i < N; i++)                                                       \
            if (i < npes) {                                                               \
                CHECK(isnan(max[i]) && isnan(min[i]));                                    \
            } else {                                                                      \
                CHECK(max[i] == 0 && min[i] == 0);                                        \
                CHECK_EQ(!signbit(max[i]), npes > 1 || i % 2 == 0);                       \
                CHECK_EQ(!!signbit(min[i]), npes > 1 || i % 2 == 1);                      \
            }                                                                             \
        shmem_barrier_all();                                                              \
    }
NAN_AND_ZEROS(float, float)
NAN_AND_ZEROS(double, double)
NAN_AND_ZEROS(longdouble, long double)

/* rule 10.6: one after the other with nothing between, and a length beyond any buffer */
static void back_to_back(void)
{
    enum { MOST = 200, BIG = 100000 };
    static long source[3], dest[MOST][3];
    const int rounds = check_rounds(MOST);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int i = 0; i < 3; i++)
        source[i] = me + i;
    shmem_barrier_all();
    for (int r = 0; r < rounds; r++)
        if (r % 2)
            shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest[r], source, 3);
        else
            shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest[r], source, 3);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 3; i++)
            CHECK_EQ(dest[r][i], r % 2 ? npes * (npes - 1) / 2 + (long)npes * i : npes - 1 + i);
    int *big = shmem_malloc(BIG * sizeof *big), *sum = shmem_malloc(BIG * sizeof *sum);
    for (int i = 0; i < BIG; i++)
        big[i] = me * i;
    shmem_barrier_all();
    CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, sum, big, BIG), 0);
    for (int i = 0; i < BIG; i++)
        CHECK_EQ(sum[i], npes * (npes - 1) / 2 * i);
    shmem_barrier_all();
    CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, big, big, BIG), 0);
    for (int i = 0; i < BIG; i++)
        CHECK_EQ(big[i], sum[i]);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    ngroups = make_groups(groups);
    uint64_t seed = check_seed();
#define RUN_BIT(NAME, TYPE) test_##NAME##AND(seed); test_##NAME##OR(seed); test_##NAME##XOR(seed);
#define RUN_ORDER(NAME, TYPE) test_##NAME##MAX(seed); test_##NAME##MIN(seed);
#define RUN_ARITHMETIC(NAME, TYPE) test_##NAME##SUM(seed); test_##NAME##PROD(seed); scan_##NAME(seed);
    REDUCE_BIT(RUN_BIT)
    REDUCE_ORDER(RUN_ORDER)
    REDUCE_ARITHMETIC(RUN_ARITHMETIC)
    extremes();
    special_float();
    special_double();
    special_longdouble();
    back_to_back();
    shmem_finalize();
    return 0;
}
