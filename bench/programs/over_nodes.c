/* A job over two nodes that have the same number of PEs: PE 0 works on the first PE of the other
 * node, while the others wait, and then all PEs meet. Latencies of 8 bytes, bursts, bandwidths of 1 MiB; and
 * the packets that PE 0's node sends for one operation, if nobody else uses its interfaces. */
#include "bench.h"

#define BIG ((size_t)1 << 20)
#define BURST 1024

static long *word, *flag, *sum, *words, here[BURST];
static long work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync_words[2][SHMEM_REDUCE_SYNC_SIZE];
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

/* Bursts: operations without waits between them, and a quiet. */
#define BURST_FROM_0(name, call)                                                                    \
    FROM_0(name, {                                                                                  \
        for (long i = 0; i < BURST; i++)                                                            \
            call;                                                                                   \
        shmem_quiet();                                                                              \
    })

BURST_FROM_0(put_burst, shmem_long_put_nbi(&words[i], &here[i], 1, far()))
BURST_FROM_0(get_burst, shmem_long_get_nbi(&here[i], &words[i], 1, far()))
BURST_FROM_0(add_burst, shmem_long_atomic_add(&words[i], 1, far()))

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

/* On the active set of all PEs. Two pSync arrays take turns. */
#define ALL 0, 0, bench.npes
static void set_reduce(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        shmem_long_sum_to_all(sum + 1, sum, 1, ALL, work[n % 2], sync_words[n % 2]);
}

/* With half a barrier each: a root need not wait for the others. */
static void set_broadcast(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--) {
        shmem_broadcast64(sum + 1, sum, 1, 0, ALL, sync_words[n % 2]);
        if (n % 2 == 0)
            shmem_barrier_all();
    }
}

static void reduce(void *arg, long n)
{
#if BENCH_SHMEM >= 105
    (void)arg;
    for (; n > 0; n--)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum + 1, sum, 1);
#else
    set_reduce(arg, n);
#endif
}

/* The packets that this node's interfaces have sent. */
static double packets_sent(void)
{
    FILE *file = fopen("/proc/net/dev", "r");
    char line[512];
    double all = 0, packets;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strstr(line, " lo:") == NULL
            && sscanf(colon + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %lf", &packets) == 1)
            all += packets;
    }
    if (file != NULL)
        fclose(file);
    return all;
}

/* Counts the packets of one operation, of at most n in a batch. Short runs (ms=) have fewer, at least 20:
 * where other jobs keep the CPUs busy, one operation can take milliseconds. */
static void count_packets(const char *name, void (*op)(void *, long), size_t size, double weight, long n)
{
    long few = bench.ms > 0.2 ? (long)(100 * bench.ms) : 20;
    if (n > few)
        n = few;
    char called[64];
    double each[5];
    for (int i = 0; i < 5; i++) {
        bench_barrier();
        double before = packets_sent();
        op(NULL, n);
        bench_barrier();
        each[i] = (packets_sent() - before) / (double)n / weight;
    }
    snprintf(called, sizeof called, "%s.packets", name);
    if (bench.pe == 0)
        bench_report(called, size, "packets", each, 5);
}

static void measure(const char *name, void (*op)(void *, long), size_t size, int whose, double weight)
{
    int bandwidth = size == BIG;
    bench_measure((struct bench_point){.name = name, .size = size, .op = op, .whose = whose,
                                       .unit = bandwidth ? BENCH_MBPS : BENCH_NS,
                                       .weight = bandwidth ? (double)BIG : weight});
    if (op != fetch_add_computing)
        count_packets(name, op, size, bandwidth ? 1 : weight, bandwidth || weight == BURST ? 20 : 2000);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2 && bench.npes % 2 == 0, "two nodes have an even number of PEs");
    word = bench_alloc(sizeof *word);
    flag = bench_alloc(sizeof *flag);
    sum = bench_alloc(2 * sizeof *sum);
    sig = bench_alloc(sizeof *sig);
    words = bench_alloc(BURST * sizeof *words);
    in = bench_alloc(BIG);
    out = bench_alloc(BIG);
    bench_fill(out, BIG, (unsigned)(bench.pe + 1));
    *sum = bench.pe + 1;
    for (size_t i = 0; i < sizeof sync_words / sizeof **sync_words; i++)
        (&sync_words[0][0])[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < BURST; i++)
        here[i] = i + 1;
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
#endif
    measure("nodes.put_burst", put_burst, sizeof(long), BENCH_FIRST, BURST);
    bench_barrier();
    for (int i = 0; i < BURST && bench.pe == far(); i++)
        bench_check(words[i] == i + 1, "nodes.put_burst: %ld instead of %d", words[i], i + 1);
    bench_barrier();
    measure("nodes.get_burst", get_burst, sizeof(long), BENCH_FIRST, BURST);
    for (int i = 0; i < BURST && bench.pe == 0; i++)
        bench_check(here[i] == i + 1, "nodes.get_burst: %ld instead of %d", here[i], i + 1);
    measure("nodes.add_burst", add_burst, sizeof(long), BENCH_FIRST, BURST);
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
    sum[1] = 0;
    bench_barrier();
    measure("nodes.set_reduce", set_reduce, sizeof(long), BENCH_SLOWEST, 1);
    bench_check(sum[1] == bench.npes * (bench.npes + 1L) / 2, "nodes.set_reduce: %ld on %d PEs", sum[1], bench.npes);
    measure("nodes.set_broadcast", set_broadcast, sizeof(long), BENCH_SLOWEST, 1);
    bench_check(bench.pe == 0 || sum[1] == 1, "nodes.set_broadcast: %ld on PE %d", sum[1], bench.pe);
    bench_finish();
    return 0;
}
