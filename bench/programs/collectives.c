/* What all PEs do together. The start of a job: shmem_init, and the first contact with each other PE, as `startup.`; barriers; the forms over teams (OpenSHMEM 1.5) by block size, as `collective.`; and the older
 * ones over active sets, as `activeset.`, as the SHCOLL paper times them: of 32 bits, a sum of doubles, and each with a
 * barrier, before the reduction and after the others. That barrier also lets pSync be used again. Over MPI (-DBENCH_MPI)
 * its own collectives stand for the forms over teams. The time is the slowest PE's. */
#include "bench.h"

static void *in, *out; /* npes blocks of `most` bytes each */
static size_t nelems;
static long round_; /* of data: with alter= a new one before each sample */

#define COLLECTIVE(name, call)                                                                      \
    static void name(long n)                                                                        \
    {                                                                                               \
        for (; n > 0; n--) {                                                                        \
            call;                                                                                   \
        }                                                                                           \
    }
#define THEN_BARRIER(name, call) COLLECTIVE(name, call; shmem_barrier_all())

#ifdef BENCH_MPI
#define COUNT (int)nelems, MPI_LONG
#define WORLD MPI_COMM_WORLD
COLLECTIVE(barrier_all, MPI_Barrier(WORLD))
COLLECTIVE(team_broadcast, MPI_Bcast(bench.pe == 0 ? in : out, COUNT, 0, WORLD))
COLLECTIVE(team_fcollect, MPI_Allgather(in, COUNT, out, COUNT, WORLD))
COLLECTIVE(team_alltoall, MPI_Alltoall(in, COUNT, out, COUNT, WORLD))
COLLECTIVE(team_sum, MPI_Allreduce(in, out, COUNT, MPI_SUM, WORLD))
#elif defined(BENCH_RAW)
COLLECTIVE(barrier_all, shmem_barrier_all())
#else
#define HAS_SETS
#define PSYNC_SIZE                                                                                  \
    (SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + \
     SHMEM_BCAST_SYNC_SIZE)
static long *psync;
static double *pwrk;

#define SET 0, 0, bench.npes
COLLECTIVE(barrier_all, shmem_barrier_all())
THEN_BARRIER(set_broadcast, shmem_broadcast32(out, in, nelems, 0, SET, psync))
THEN_BARRIER(set_collect, shmem_collect32(out, in, nelems, SET, psync))
THEN_BARRIER(set_fcollect, shmem_fcollect32(out, in, nelems, SET, psync))
THEN_BARRIER(set_alltoall, shmem_alltoall32(out, in, nelems, SET, psync))
THEN_BARRIER(set_alltoalls, shmem_alltoalls32(out, in, 1, 1, nelems, SET, psync))
COLLECTIVE(set_sum, shmem_barrier_all(); shmem_double_sum_to_all(out, in, (int)nelems, SET, pwrk, psync))

#if BENCH_SHMEM >= 105
#define HAS_TEAMS
#define TEAM SHMEM_TEAM_WORLD
COLLECTIVE(sync_all, shmem_sync_all())
COLLECTIVE(team_broadcast, shmem_long_broadcast(TEAM, out, in, nelems, 0))
COLLECTIVE(team_collect, shmem_long_collect(TEAM, out, in, nelems))
COLLECTIVE(team_fcollect, shmem_long_fcollect(TEAM, out, in, nelems))
COLLECTIVE(team_alltoall, shmem_long_alltoall(TEAM, out, in, nelems))
COLLECTIVE(team_alltoalls, shmem_long_alltoalls(TEAM, out, in, 1, 1, nelems))
COLLECTIVE(team_sum, shmem_long_sum_reduce(TEAM, out, in, nelems))
#endif
#endif

/* Element i of what PE `pe` contributes in this round. */
static long given(size_t pe, size_t i) { return (long)(pe * 1000003 + i) + round_; }

/* What element i of this PE's result is, with blocks of nelems. */
static long gathered(size_t i) { return given(i / nelems, i % nelems); }
static long exchanged(size_t i) { return given(i / nelems, (size_t)bench.pe * nelems + i % nelems); }
static long from_root(size_t i) { return given(0, i); }
static long sum(size_t i)
{
    long all = 0;
    for (size_t pe = 0; pe < (size_t)bench.npes; pe++)
        all += given(pe, i);
    return all;
}

/* What happens once in a job: a sample of each PE. */
static void started(void)
{
#ifdef HAS_SETS
    static long word = 1;
    double start = bench_now();
    /* The others alone: memory of its own needs no contact. */
    long sum = 0, others = bench.npes - 1;
    for (int i = 1; i <= others; i++)
        sum += shmem_long_g(&word, (bench.pe + i) % bench.npes);
    double took[] = {bench.init, (bench_now() - start) / (double)others};
    bench_check(sum == others, "first contact: %ld words of %ld", sum, others);
    const char *names[] = {"startup.init", "startup.first_contact"};
    if (others == 0)
        bench_skip(names[1], "a PE alone has nobody to meet");
    for (int i = 0; i < (others > 0 ? 2 : 1); i++) {
        double *all = (double *)bench_gather(took[i]);
        if (bench.pe == 0)
            bench_report(names[i], 0, "ns", all, bench.npes);
        bench_barrier();
    }
#endif
}

enum element { INT, LONG, DOUBLE };

static const struct test {
    const char *name;
    void (*op)(long);
    long (*expected)(size_t); /* NULL: no data */
    int one_a_pe;             /* blocks in the result: one a PE, or one */
    enum element element;
} tests[] = {
    {"collective.barrier_all", barrier_all, NULL, 0, LONG},
#ifdef HAS_SETS
    {"activeset.broadcast", set_broadcast, from_root, 0, INT},
    {"activeset.collect", set_collect, gathered, 1, INT},
    {"activeset.fcollect", set_fcollect, gathered, 1, INT},
    {"activeset.alltoall", set_alltoall, exchanged, 1, INT},
    {"activeset.alltoalls", set_alltoalls, exchanged, 1, INT},
    {"activeset.sum", set_sum, sum, 0, DOUBLE},
#endif
#if defined(BENCH_MPI) || defined(HAS_TEAMS)
    {"collective.broadcast", team_broadcast, from_root, 0, LONG},
    {"collective.fcollect", team_fcollect, gathered, 1, LONG},
    {"collective.alltoall", team_alltoall, exchanged, 1, LONG},
    {"collective.sum", team_sum, sum, 0, LONG},
#ifdef HAS_TEAMS
    {"collective.sync_all", sync_all, NULL, 0, LONG},
    {"collective.collect", team_collect, gathered, 1, LONG},
    {"collective.alltoalls", team_alltoalls, exchanged, 1, LONG},
#endif
#endif
};
static const struct test *now;

static size_t size_of(enum element e) { return e == INT ? sizeof(int32_t) : sizeof(long); }

static void store(void *array, size_t i, long value)
{
    if (now->element == INT)
        ((int32_t *)array)[i] = (int32_t)value;
    else if (now->element == LONG)
        ((long *)array)[i] = value;
    else
        ((double *)array)[i] = (double)value;
}

static long load(const void *array, size_t i)
{
    return now->element == INT    ? ((const int32_t *)array)[i]
           : now->element == LONG ? ((const long *)array)[i]
                                  : (long)((const double *)array)[i];
}

/* New data, of which other PEs' caches have nothing. */
static void alter(void)
{
    round_++;
    size_t blocks = now->expected == exchanged ? (size_t)bench.npes : 1;
    for (size_t i = 0; i < nelems * blocks; i++)
        store(in, i, given((size_t)bench.pe, i));
}

static void measure(size_t size)
{
    nelems = size / size_of(now->element);
    size_t all = nelems * (now->one_a_pe ? (size_t)bench.npes : 1);
    for (size_t i = 0; i < all; i++)
        store(out, i, -1);
    alter();
    bench_barrier();
    int altered = bench.alter && now->expected != NULL;
    bench_measure((struct bench_point){.name = now->name, .size = size, .op = now->op, .whose = BENCH_SLOWEST, .unit = BENCH_NS,
                                       .weight = 1, .prepare = altered ? alter : NULL, .exactly = altered ? bench.iters : 0});
    /* Over an active set and in MPI, a broadcast leaves the root's own result alone. */
    int none = now->expected == NULL || (bench.pe == 0 && now->expected == from_root && load(out, 0) == -1);
    for (size_t i = 0; i < all && !none; i++) {
        long expected = now->expected(i), result = load(out, i);
        bench_check(result == expected, "%s: element %zu of blocks of %zu is %ld instead of %ld", now->name, i, nelems, result,
                    expected);
    }
    bench_barrier();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    size_t most = bench.max, wanted = 0;
    if (bench_wanted("startup.init")) {
        started();
        wanted++;
    }
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        wanted += (size_t)bench_wanted(tests[t].name);
    bench_check(wanted > 0, "only=: no such collective");
    in = bench_alloc(most * (size_t)bench.npes);
    out = bench_alloc(most * (size_t)bench.npes);
#ifdef HAS_SETS
    pwrk = bench_alloc(most + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof *pwrk);
    psync = bench_alloc(PSYNC_SIZE * sizeof *psync);
    for (int i = 0; i < PSYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    bench_barrier();
#endif
    for (now = tests; now < tests + sizeof tests / sizeof *tests; now++) {
        if (!bench_wanted(now->name))
            continue;
        if (now->expected == NULL) {
            measure(0);
            continue;
        }
        size_t least = size_of(now->element);
        for (size_t size = bench_size_after(0, least, most); size > 0; size = bench_size_after(size, least, most))
            measure(size);
    }
    bench_finish();
    return 0;
}
