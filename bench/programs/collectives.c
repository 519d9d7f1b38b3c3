/* All collectives over all PEs: barriers, and broadcast, collect, fcollect, all-to-all,
 * strided all-to-all, reductions and scans by block size. Twice: the forms over teams
 * (OpenSHMEM 1.5; scans 1.6), as `collective.`, and the older ones over active sets,
 * which every implementation has, as `activeset.`. The time is the slowest PE's. */
#include "bench.h"

#define MOST 4194304 /* largest block of one PE, in bytes */

#define PSYNC_SIZE                                                                                  \
    (SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + \
     SHMEM_BCAST_SYNC_SIZE)
static long *psync[4], *pwrk[2];
static double *pwrk_double[2];
static long *in, *out; /* npes blocks of `most` bytes each */

struct blocks {
    size_t nelems; /* longs in a block */
};

/* Active-set routines may not have one pSync in use twice at once: take them in turn,
 * with a barrier when all have had their turn. So a quarter of a barrier is part of
 * each of these figures, for every implementation alike. */
static unsigned turn;
static long *next_psync(void)
{
    if (turn % 4 == 0)
        shmem_barrier_all();
    return psync[turn++ % 4];
}

#define COLLECTIVE(name, call)                                                                      \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        const struct blocks *b = arg;                                                               \
        size_t nelems = b->nelems;                                                                  \
        (void)nelems;                                                                               \
        for (; n > 0; n--)                                                                          \
            call;                                                                                   \
    }

#define SET 0, 0, bench.npes
COLLECTIVE(barrier_all, shmem_barrier_all())
COLLECTIVE(sync_all, shmem_sync_all())
COLLECTIVE(set_broadcast, shmem_broadcast64(out, in, nelems, 0, SET, next_psync()))
COLLECTIVE(set_collect, shmem_collect64(out, in, nelems, SET, next_psync()))
COLLECTIVE(set_fcollect, shmem_fcollect64(out, in, nelems, SET, next_psync()))
COLLECTIVE(set_alltoall, shmem_alltoall64(out, in, nelems, SET, next_psync()))
COLLECTIVE(set_alltoalls, shmem_alltoalls64(out, in, 1, 1, nelems, SET, next_psync()))
COLLECTIVE(set_sum, shmem_long_sum_to_all(out, in, (int)nelems, SET, pwrk[turn % 2], next_psync()))
COLLECTIVE(set_max, shmem_long_max_to_all(out, in, (int)nelems, SET, pwrk[turn % 2], next_psync()))
COLLECTIVE(set_sum_double,
           shmem_double_sum_to_all((double *)out, (double *)in, (int)nelems, SET, pwrk_double[turn % 2], next_psync()))

#if BENCH_SHMEM >= 105
#define TEAM SHMEM_TEAM_WORLD
COLLECTIVE(team_sync, shmem_team_sync(TEAM))
COLLECTIVE(team_broadcast, shmem_long_broadcast(TEAM, out, in, nelems, 0))
COLLECTIVE(team_collect, shmem_long_collect(TEAM, out, in, nelems))
COLLECTIVE(team_fcollect, shmem_long_fcollect(TEAM, out, in, nelems))
COLLECTIVE(team_alltoall, shmem_long_alltoall(TEAM, out, in, nelems))
COLLECTIVE(team_alltoalls, shmem_long_alltoalls(TEAM, out, in, 1, 1, nelems))
COLLECTIVE(team_sum, shmem_long_sum_reduce(TEAM, out, in, nelems))
COLLECTIVE(team_max, shmem_long_max_reduce(TEAM, out, in, nelems))
COLLECTIVE(team_sum_double, shmem_double_sum_reduce(TEAM, (double *)out, (double *)in, nelems))
#endif
#if BENCH_SHMEM >= 106
COLLECTIVE(team_inscan, shmem_long_sum_inscan(TEAM, out, in, nelems))
COLLECTIVE(team_exscan, shmem_long_sum_exscan(TEAM, out, in, nelems))
#endif

/* Element i of what PE `pe` contributes. */
static long given(int pe, size_t i) { return pe * 1000003L + (long)i; }

/* What element i of PE `me`'s result is, with blocks of nelems. */
static long gathered(int me, size_t i, size_t nelems)
{
    (void)me;
    return given((int)(i / nelems), i % nelems);
}
static long exchanged(int me, size_t i, size_t nelems)
{
    return given((int)(i / nelems), (size_t)me * nelems + i % nelems);
}
static long from_root(int me, size_t i, size_t nelems)
{
    (void)me, (void)nelems;
    return given(0, i);
}
static long sum_of(int pes, size_t i) { return (long)pes * (pes - 1) / 2 * 1000003L + pes * (long)i; }
static long sum(int me, size_t i, size_t nelems)
{
    (void)me, (void)nelems;
    return sum_of(bench.npes, i);
}
static long max(int me, size_t i, size_t nelems)
{
    (void)me, (void)nelems;
    return given(bench.npes - 1, i);
}
#if BENCH_SHMEM >= 106
static long inscan(int me, size_t i, size_t nelems)
{
    (void)nelems;
    return sum_of(me + 1, i);
}
static long exscan(int me, size_t i, size_t nelems)
{
    (void)nelems;
    return sum_of(me, i);
}
#endif

static const struct {
    const char *name;
    void (*op)(void *, long);
    long (*expected)(int, size_t, size_t);
    int blocks; /* in the result: 0 none, 1 one, 2 one a PE */
    int real;
} tests[] = {
    {"collective.barrier_all", barrier_all, NULL, 0, 0},
    {"collective.sync_all", sync_all, NULL, 0, 0},
    {"activeset.broadcast", set_broadcast, from_root, 1, 0},
    {"activeset.collect", set_collect, gathered, 2, 0},
    {"activeset.fcollect", set_fcollect, gathered, 2, 0},
    {"activeset.alltoall", set_alltoall, exchanged, 2, 0},
    {"activeset.alltoalls", set_alltoalls, exchanged, 2, 0},
    {"activeset.sum", set_sum, sum, 1, 0},
    {"activeset.max", set_max, max, 1, 0},
    {"activeset.sum_double", set_sum_double, sum, 1, 1},
#if BENCH_SHMEM >= 105
    {"collective.team_sync", team_sync, NULL, 0, 0},
    {"collective.broadcast", team_broadcast, from_root, 1, 0},
    {"collective.collect", team_collect, gathered, 2, 0},
    {"collective.fcollect", team_fcollect, gathered, 2, 0},
    {"collective.alltoall", team_alltoall, exchanged, 2, 0},
    {"collective.alltoalls", team_alltoalls, exchanged, 2, 0},
    {"collective.sum", team_sum, sum, 1, 0},
    {"collective.max", team_max, max, 1, 0},
    {"collective.sum_double", team_sum_double, sum, 1, 1},
#endif
#if BENCH_SHMEM >= 106
    {"collective.inscan", team_inscan, inscan, 1, 0},
    {"collective.exscan", team_exscan, exscan, 1, 0},
#endif
};

/* Broadcast over an active set leaves the root's dest alone. */
static int is_root_of_set(size_t t) { return tests[t].op == set_broadcast && bench.pe == 0; }

static void measure(size_t t, size_t nelems)
{
    struct blocks b = {nelems};
    size_t results = tests[t].blocks == 2 ? nelems * (size_t)bench.npes : nelems;
    for (size_t i = 0; i < nelems * (size_t)bench.npes; i++) {
        long value = given(bench.pe, i);
        out[i] = -1;
        if (tests[t].real)
            ((double *)in)[i] = (double)value;
        else
            in[i] = value;
    }
    bench_barrier();
    bench_measure((struct bench_point){.name = tests[t].name, .size = nelems * sizeof(long), .op = tests[t].op, .arg = &b,
                                       .whose = BENCH_SLOWEST, .unit = BENCH_NS, .weight = 1});
    for (size_t i = 0; i < results && !is_root_of_set(t); i++) {
        long expected = tests[t].expected(bench.pe, i, nelems);
        long result = tests[t].real ? (long)((double *)out)[i] : out[i];
        bench_check(result == expected, "%s: element %zu of blocks of %zu is %ld instead of %ld", tests[t].name, i, nelems,
                    result, expected);
    }
    bench_barrier();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    size_t most = bench.max < MOST ? bench.max : MOST;
    in = bench_alloc(most * (size_t)bench.npes);
    out = bench_alloc(most * (size_t)bench.npes);
    for (int k = 0; k < 4; k++) {
        psync[k] = bench_alloc(PSYNC_SIZE * sizeof(long));
        for (int i = 0; i < PSYNC_SIZE; i++)
            psync[k][i] = SHMEM_SYNC_VALUE;
    }
    for (int k = 0; k < 2; k++) {
        pwrk[k] = bench_alloc(most + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof(long));
        pwrk_double[k] = bench_alloc(most + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof(double));
    }
    bench_barrier();
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        if (!bench_wanted(tests[t].name))
            continue;
        if (tests[t].expected == NULL) {
            bench_measure((struct bench_point){.name = tests[t].name, .op = tests[t].op, .arg = &(struct blocks){0},
                                               .whose = BENCH_SLOWEST, .unit = BENCH_NS, .weight = 1});
            continue;
        }
        BENCH_SIZES (size, sizeof(long), most)
            measure(t, size / sizeof(long));
    }
#if BENCH_SHMEM < 105
    bench_skip("collective.team", "needs OpenSHMEM 1.5");
#elif BENCH_SHMEM < 106
    bench_skip("collective.scan", "needs OpenSHMEM 1.6");
#endif
    bench_finish();
    return 0;
}
