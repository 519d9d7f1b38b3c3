/* A job over two nodes that have the same number of PEs: PE 0 works on the first PE of the other
 * node, while the others wait, and then all PEs meet. Latencies of 8 bytes, bandwidths of 1 MiB. */
#include "bench.h"

#define BIG ((size_t)1 << 20)

static long *word, *flag, *sum;
static uint64_t *sig;
static unsigned char *in, *out;
static long count;

/* The first PE of the other node. */
static int far(void) { return bench.npes / 2; }

#define FROM_0(name, call)                                                                          \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        (void)arg;                                                                                  \
        for (; bench.pe == 0 && n > 0; n--)                                                         \
            call;                                                                                   \
    }

FROM_0(put, (shmem_long_p(word, n, far()), shmem_quiet()))
FROM_0(get, (void)shmem_long_g(word, far()))
FROM_0(fetch_add, (void)shmem_long_atomic_fetch_add(word, 1, far()))
FROM_0(put_big, (shmem_putmem(in, out, BIG, far()), shmem_quiet()))
FROM_0(get_big, shmem_getmem(in, out, BIG, far()))

/* The target computes and calls nothing for COMPUTING ns, then waits in a barrier. */
#define COMPUTING 50e6
static void fetch_add_computing(void *arg, long n)
{
    if (bench.pe == far()) {
        volatile double x = 1;
        double end = bench_now() + COMPUTING;
        while (bench_now() < end)
            for (int i = 0; i < 1000; i++)
                x = x * 1.0000001 + 1e-9;
    }
    fetch_add(arg, n);
}

/* Half a round trip of 8 bytes that are followed by a flag. */
static void flagged(void *arg, long n)
{
    (void)arg;
    int other = bench.pe == 0 ? far() : 0;
    if (bench.pe != 0 && bench.pe != far())
        return;
    for (; n > 0; n--) {
        count++;
        if (bench.pe != 0)
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, count);
        shmem_long_p(word, count, other);
        shmem_fence();
        shmem_long_p(flag, count, other);
        if (bench.pe == 0)
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, count);
    }
}

#if BENCH_SHMEM >= 105
static void signalled(void *arg, long n)
{
    (void)arg;
    int other = bench.pe == 0 ? far() : 0;
    if (bench.pe != 0 && bench.pe != far())
        return;
    for (; n > 0; n--) {
        count++;
        if (bench.pe != 0)
            shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)count);
        shmem_putmem_signal(word, &count, sizeof count, sig, (uint64_t)count, SHMEM_SIGNAL_SET, other);
        if (bench.pe == 0)
            shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)count);
    }
}
#endif

static void barrier(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        shmem_barrier_all();
}

static void reduce(void *arg, long n)
{
#if BENCH_SHMEM >= 105
    (void)arg;
    for (; n > 0; n--)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum + 1, sum, 1);
#else
    /* Two sets of work arrays take turns, and a barrier after two keeps calls apart. */
    static long work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[2][SHMEM_REDUCE_SYNC_SIZE];
    if (arg != NULL) {
        for (size_t i = 0; i < sizeof sync / sizeof **sync; i++)
            (&sync[0][0])[i] = SHMEM_SYNC_VALUE;
        shmem_barrier_all();
        return;
    }
    for (; n > 0; n--) {
        shmem_long_sum_to_all(sum + 1, sum, 1, 0, 0, bench.npes, work[n % 2], sync[n % 2]);
    }
#endif
}

static void measure(const char *name, void (*op)(void *, long), size_t size, int whose, double weight)
{
    int bandwidth = size == BIG;
    bench_measure((struct bench_point){.name = name, .size = size, .op = op, .whose = whose,
                                       .unit = bandwidth ? BENCH_MBPS : BENCH_NS,
                                       .weight = bandwidth ? (double)BIG : weight});
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2 && bench.npes % 2 == 0, "two nodes have an even number of PEs");
    word = bench_alloc(sizeof *word);
    flag = bench_alloc(sizeof *flag);
    sum = bench_alloc(2 * sizeof *sum);
    sig = bench_alloc(sizeof *sig);
    in = bench_alloc(BIG);
    out = bench_alloc(BIG);
    bench_fill(out, BIG, (unsigned)(bench.pe + 1));
    *sum = bench.pe + 1;
    bench_barrier();

    measure("nodes.put", put, sizeof(long), BENCH_FIRST, 1);
    measure("nodes.get", get, sizeof(long), BENCH_FIRST, 1);
    measure("nodes.fetch_add", fetch_add, sizeof(long), BENCH_FIRST, 1);
    measure("nodes.fetch_add_computing", fetch_add_computing, sizeof(long), BENCH_FIRST, 1);
    measure("nodes.flag", flagged, sizeof(long), BENCH_FIRST, 2);
    if (bench.pe == 0 || bench.pe == far())
        bench_check(*flag == count && *word == count, "nodes.flag: %ld and %ld instead of %ld", *flag, *word, count);
#if BENCH_SHMEM >= 105
    measure("nodes.put_signal", signalled, sizeof(long), BENCH_FIRST, 2);
    if (bench.pe == 0 || bench.pe == far())
        bench_check(*sig == (uint64_t)count, "nodes.put_signal: %lu instead of %ld", (unsigned long)*sig, count);
#else
    bench_skip("nodes.put_signal", "needs OpenSHMEM 1.5");
    reduce(&count, 0);
#endif
    measure("nodes.put_bandwidth", put_big, BIG, BENCH_FIRST, 1);
    bench_barrier();
    if (bench.pe == far())
        bench_verify(in, BIG, 1, "nodes.put_bandwidth");
    measure("nodes.get_bandwidth", get_big, BIG, BENCH_FIRST, 1);
    if (bench.pe == 0)
        bench_verify(in, BIG, (unsigned)far() + 1, "nodes.get_bandwidth");
    measure("nodes.barrier", barrier, 0, BENCH_SLOWEST, 1);
    measure("nodes.reduce", reduce, sizeof(long), BENCH_SLOWEST, 1);
    bench_check(sum[1] == bench.npes * (bench.npes + 1L) / 2, "nodes.reduce: %ld on %d PEs", sum[1], bench.npes);
    bench_finish();
    return 0;
}
