/* Collectives over all PEs: barriers; the forms over teams (OpenSHMEM 1.5) by block size, as `collective.`; and
 * the older ones over active sets, as `activeset.`, as the SHCOLL paper times them: of 32 bits, a sum of doubles,
 * and each with a barrier, before the reduction and after the others. That barrier also lets pSync be used again.
 * The time is the slowest PE's. */
#include "bench.h"

#define MOST 4194304 /* largest block of one PE, in bytes */

#define PSYNC_SIZE                                                                                  \
    (SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + \
     SHMEM_BCAST_SYNC_SIZE)
static long *psync;
static double *pwrk;
static void *in, *out; /* npes blocks of `most` bytes each */

#define COLLECTIVE(name, call)                                                                      \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        size_t nelems = *(const size_t *)arg;                                                       \
        (void)nelems;                                                                               \
        for (; n > 0; n--) {                                                                        \
            call;                                                                                   \
        }                                                                                           \
    }
#define THEN_BARRIER(name, call) COLLECTIVE(name, call; shmem_barrier_all())

#define SET 0, 0, bench.npes
COLLECTIVE(barrier_all, shmem_barrier_all())
COLLECTIVE(sync_all, shmem_sync_all())
THEN_BARRIER(set_broadcast, shmem_broadcast32(out, in, nelems, 0, SET, psync))
THEN_BARRIER(set_collect, shmem_collect32(out, in, nelems, SET, psync))
THEN_BARRIER(set_fcollect, shmem_fcollect32(out, in, nelems, SET, psync))
THEN_BARRIER(set_alltoall, shmem_alltoall32(out, in, nelems, SET, psync))
THEN_BARRIER(set_alltoalls, shmem_alltoalls32(out, in, 1, 1, nelems, SET, psync))
COLLECTIVE(set_sum, shmem_barrier_all(); shmem_double_sum_to_all(out, in, (int)nelems, SET, pwrk, psync))

#if BENCH_SHMEM >= 105
#define TEAM SHMEM_TEAM_WORLD
COLLECTIVE(team_broadcast, shmem_long_broadcast(TEAM, out, in, nelems, 0))
COLLECTIVE(team_collect, shmem_long_collect(TEAM, out, in, nelems))
COLLECTIVE(team_fcollect, shmem_long_fcollect(TEAM, out, in, nelems))
COLLECTIVE(team_alltoall, shmem_long_alltoall(TEAM, out, in, nelems))
COLLECTIVE(team_alltoalls, shmem_long_alltoalls(TEAM, out, in, 1, 1, nelems))
COLLECTIVE(team_sum, shmem_long_sum_reduce(TEAM, out, in, nelems))
#endif

/* Element i of what PE `pe` contributes. */
static long given(size_t pe, size_t i) { return (long)(pe * 1000003 + i); }

/* What element i of this PE's result is, with blocks of nelems. */
static long gathered(size_t i, size_t nelems) { return given(i / nelems, i % nelems); }
static long exchanged(size_t i, size_t nelems) { return given(i / nelems, (size_t)bench.pe * nelems + i % nelems); }
static long from_root(size_t i, size_t nelems) { return (void)nelems, given(0, i); }
static long sum(size_t i, size_t nelems)
{
    long all = 0;
    (void)nelems;
    for (size_t pe = 0; pe < (size_t)bench.npes; pe++)
        all += given(pe, i);
    return all;
}

enum element { INT, LONG, DOUBLE };

static size_t size_of(enum element e) { return e == INT ? sizeof(int32_t) : sizeof(long); }

static void store(void *array, size_t i, enum element e, long value)
{
    if (e == INT)
        ((int32_t *)array)[i] = (int32_t)value;
    else if (e == LONG)
        ((long *)array)[i] = value;
    else
        ((double *)array)[i] = (double)value;
}

static long load(const void *array, size_t i, enum element e)
{
    return e == INT ? ((const int32_t *)array)[i] : e == LONG ? ((const long *)array)[i] : (long)((const double *)array)[i];
}

static const struct test {
    const char *name;
    void (*op)(void *, long);
    long (*expected)(size_t, size_t); /* NULL: no data */
    int one_a_pe;                     /* blocks in the result: one a PE, or one */
    enum element element;
} tests[] = {
    {"collective.barrier_all", barrier_all, NULL, 0, LONG},
    {"collective.sync_all", sync_all, NULL, 0, LONG},
    {"activeset.broadcast", set_broadcast, from_root, 0, INT},
    {"activeset.collect", set_collect, gathered, 1, INT},
    {"activeset.fcollect", set_fcollect, gathered, 1, INT},
    {"activeset.alltoall", set_alltoall, exchanged, 1, INT},
    {"activeset.alltoalls", set_alltoalls, exchanged, 1, INT},
    {"activeset.sum", set_sum, sum, 0, DOUBLE},
#if BENCH_SHMEM >= 105
    {"collective.broadcast", team_broadcast, from_root, 0, LONG},
    {"collective.collect", team_collect, gathered, 1, LONG},
    {"collective.fcollect", team_fcollect, gathered, 1, LONG},
    {"collective.alltoall", team_alltoall, exchanged, 1, LONG},
    {"collective.alltoalls", team_alltoalls, exchanged, 1, LONG},
    {"collective.sum", team_sum, sum, 0, LONG},
#endif
};

static void measure(const struct test *t, size_t size)
{
    size_t nelems = size / size_of(t->element), all = nelems * (size_t)bench.npes;
    for (size_t i = 0; i < all; i++) {
        store(out, i, t->element, -1);
        store(in, i, t->element, given((size_t)bench.pe, i));
    }
    bench_barrier();
    bench_measure((struct bench_point){.name = t->name, .size = size, .op = t->op, .arg = &nelems, .whose = BENCH_SLOWEST,
                                       .unit = BENCH_NS, .weight = 1});
    if (t->op == set_broadcast && bench.pe == 0)
        all = 0; /* over an active set, it leaves the root's dest alone */
    for (size_t i = 0; t->expected != NULL && i < (t->one_a_pe ? all : all / (size_t)bench.npes); i++) {
        long expected = t->expected(i, nelems), result = load(out, i, t->element);
        bench_check(result == expected, "%s: element %zu of blocks of %zu is %ld instead of %ld", t->name, i, nelems, result,
                    expected);
    }
    bench_barrier();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    size_t most = bench.max < MOST ? bench.max : MOST, wanted = 0;
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        wanted += (size_t)bench_wanted(tests[t].name);
    bench_check(wanted > 0, "only=: no such collective");
    in = bench_alloc(most * (size_t)bench.npes);
    out = bench_alloc(most * (size_t)bench.npes);
    pwrk = bench_alloc(most + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof *pwrk);
    psync = bench_alloc(PSYNC_SIZE * sizeof *psync);
    for (int i = 0; i < PSYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    bench_barrier();
    for (const struct test *t = tests; t < tests + sizeof tests / sizeof *tests; t++) {
        if (!bench_wanted(t->name))
            continue;
        if (t->expected == NULL) {
            measure(t, 0);
            continue;
        }
        BENCH_SIZES (size, size_of(t->element), most)
            measure(t, size);
    }
#if BENCH_SHMEM < 105
    bench_skip("collective.team", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
