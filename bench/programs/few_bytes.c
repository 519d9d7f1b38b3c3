/* What collectives of few bytes cost beside a barrier, and where the time goes: how often a PE gives its CPU away
 * for one call, sleeps in the kernel and wakes others. To be run by hand, with any number of PEs:
 *
 *   oshrun -n 8 few_bytes [calls=N] [rounds=N] [size=BYTES]
 *
 * Prints a line for each operation: nanoseconds of one call for the slowest PE and for PE 0, which is the root of
 * broadcasts, both in units of the barrier of the same round, too; then, for one call of one PE, context switches
 * (getrusage), sleeps on futexes and calls that wake sleepers. Figures are medians over the
 * rounds, in each of which every operation has its turn.
 *
 * "raw" is a central counter with sched_yield; "+ barrier" has a barrier after each call, whose time counts; "half"
 * runs in the team of the PEs of even number, while the others wait in a barrier. */
#include "bench.h"
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* The library's calls of this function come here, since the program comes first in the order of symbols. */
static long sleeps, wakes;

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_futex) {
        int command = (int)a[1] & FUTEX_CMD_MASK;
        sleeps += command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
        wakes += command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#if BENCH_SHMEM < 105
int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_skip("few_bytes", "needs OpenSHMEM 1.5");
    bench_finish();
    return 0;
}
#else

#define MOST_ROUNDS 101
#define FIGURES 5

static long *in, *out;
static size_t nelems = 1;
static shmem_team_t half;
static struct {
    _Alignas(128) atomic_long arrived;
    _Alignas(128) atomic_long phase;
} central;

static void raw(shmem_team_t team)
{
    static __typeof__(&central) there;
    static int crowded;
    if (there == NULL) {
        there = shmem_ptr(&central, 0);
        crowded = bench.npes > sysconf(_SC_NPROCESSORS_ONLN);
    }
    (void)team;
    long phase = atomic_load(&there->phase);
    if (atomic_fetch_add(&there->arrived, 1) == bench.npes - 1) {
        atomic_store(&there->arrived, 0);
        atomic_store(&there->phase, phase + 1);
    } else {
        for (int spins = 0; atomic_load_explicit(&there->phase, memory_order_acquire) <= phase; spins++)
            if (crowded || spins > 1000)
                sched_yield();
    }
}

static void sync_team(shmem_team_t team) { shmem_team_sync(team); }
static void broadcast(shmem_team_t team) { shmem_long_broadcast(team, out, in, nelems, 0); }
static void reduce(shmem_team_t team) { shmem_long_sum_reduce(team, out, in, nelems); }
static void fcollect(shmem_team_t team) { shmem_long_fcollect(team, out, in, nelems); }
static void alltoall(shmem_team_t team) { shmem_long_alltoall(team, out, in, nelems); }
static void inscan(shmem_team_t team)
{
#if BENCH_SHMEM >= 106
    shmem_long_sum_inscan(team, out, in, nelems);
#else
    (void)team;
#endif
}

static const struct {
    const char *name;
    void (*call)(shmem_team_t);
    int halved, met; /* in half of the PEs; with a barrier after each */
} operations[] = {
    {"barrier", sync_team, 0, 0},
    {"raw", raw, 0, 0},
    {"broadcast", broadcast, 0, 0},
    {"reduce", reduce, 0, 0},
    {"fcollect", fcollect, 0, 0},
    {"alltoall", alltoall, 0, 0},
    {"inscan", inscan, 0, 0},
    {"broadcast + barrier", broadcast, 0, 1},
    {"reduce + barrier", reduce, 0, 1},
    {"fcollect + barrier", fcollect, 0, 1},
    {"alltoall + barrier", alltoall, 0, 1},
    {"half: barrier", sync_team, 1, 0},
    {"half: broadcast", broadcast, 1, 0},
    {"half: reduce", reduce, 1, 0},
    {"half: fcollect", fcollect, 1, 0},
    {"half: alltoall", alltoall, 1, 0},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

static double figures[FIGURES][OPERATIONS][MOST_ROUNDS];

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The sum, or the most, of all PEs' values, on PE 0. */
static double over_all(double mine, int most)
{
    const double *all = bench_gather(mine);
    double result = 0;
    for (int pe = 0; bench.pe == 0 && pe < bench.npes; pe++)
        result = !most ? result + all[pe] : all[pe] > result ? all[pe] : result;
    shmem_barrier_all();
    return result;
}

static void round_of(size_t o, long round, long calls)
{
    int halved = operations[o].halved;
    shmem_team_t team = halved ? half : SHMEM_TEAM_WORLD;
    int members = halved ? (bench.npes + 1) / 2 : bench.npes;
    double took = 0, counts[3] = {0};
    shmem_barrier_all();
    if (team != SHMEM_TEAM_INVALID) {
        long before[3] = {switches(), sleeps, wakes};
        double start = bench_now();
        for (long i = 0; i < calls; i++) {
            operations[o].call(team);
            if (operations[o].met)
                shmem_team_sync(team);
        }
        took = bench_now() - start;
        long after[3] = {switches(), sleeps, wakes};
        for (int i = 0; i < 3; i++)
            counts[i] = (double)(after[i] - before[i]);
    }
    double all[FIGURES] = {over_all(took, 1) / (double)calls, took / (double)calls};
    for (int i = 0; i < 3; i++)
        all[2 + i] = over_all(counts[i], 0) / (double)calls / members;
    for (int i = 0; i < FIGURES; i++)
        figures[i][o][round] = all[i];
}

static double median(const double *values, long count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, bench_ascending);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Of the ratios to the barrier of the same round. */
static double median_ratio(int figure, size_t o, long count)
{
    double ratios[MOST_ROUNDS];
    size_t barrier = operations[o].halved ? 11 : 0;
    for (long i = 0; i < count; i++)
        ratios[i] = figures[figure][o][i] / figures[0][barrier][i];
    return median(ratios, count);
}

int main(int argc, char **argv)
{
    long calls = 2000, rounds = 11;
    int rest = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "calls=", 6) == 0)
            calls = atol(argv[i] + 6);
        else if (strncmp(argv[i], "rounds=", 7) == 0)
            rounds = atol(argv[i] + 7);
        else if (strncmp(argv[i], "size=", 5) == 0)
            nelems = (size_t)atol(argv[i] + 5) / sizeof(long);
        else
            argv[rest++] = argv[i];
    }
    bench_start(rest, argv);
    bench_check(calls > 0 && rounds > 0 && rounds <= MOST_ROUNDS && nelems > 0, "an argument is out of range");
    in = bench_alloc(nelems * sizeof(long) * (size_t)bench.npes);
    out = bench_alloc(nelems * sizeof(long) * (size_t)bench.npes);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (bench.npes + 1) / 2, NULL, 0, &half);
    for (size_t o = 0; o < OPERATIONS; o++)
        round_of(o, 0, calls / 10 + 1);
    for (long round = 0; round < rounds; round++)
        for (size_t o = 0; o < OPERATIONS; o++)
            round_of(o, round, calls);
    if (bench.pe == 0)
        printf("%d PEs, %zu bytes   slowest ns     PE 0 ns  /barrier  PE 0 /b.  switches   sleeps    wakes\n",
               bench.npes, nelems * sizeof(long));
    for (size_t o = 0; bench.pe == 0 && o < OPERATIONS; o++)
        printf("%-20s %10.0f  %10.0f  %8.2f  %8.2f  %8.3f %8.3f %8.3f\n", operations[o].name,
               median(figures[0][o], rounds), median(figures[1][o], rounds), median_ratio(0, o, rounds),
               median_ratio(1, o, rounds), median(figures[2][o], rounds), median(figures[3][o], rounds),
               median(figures[4][o], rounds));
    shmem_team_destroy(half);
    bench_finish();
    return 0;
}
#endif
