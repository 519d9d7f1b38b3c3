/* All that is measured of single operations: the table at the end. Over plain shared memory (-DBENCH_RAW) the same
 * programs measure what the machine can do. PE 0 works with its partner, unless a name or a comment says otherwise. */
#include "bench.h"

#define PLACES 512   /* of small operations, in turn, before a quiet */
#define MESSAGES 128 /* to each peer, in the message rate */
#define PEERS 6
#define TRIAL 1000 /* atomic operations, before they are measured */
#define APART 128  /* bytes that an atomic word has to itself */

static unsigned char *in, *out;
static long *flag, *arrived, *words, count, iteration;
static uint64_t *sig;
static size_t size;  /* of the point that is measured */
static long window;  /* transfers before a quiet */
static int peer, peers; /* of this PE; how many it sends to in the message rate */

static int plays(void) { return bench.pe == 0 || bench.pe == bench.partner; }

/* ---- Ping-pong: a message there and back. One of 8 bytes is waited for by its own value; a longer one is followed by
 * fence and a flag, since a library may deliver a put's bytes in any order. Its number stands at both its ends. */
__attribute__((always_inline)) static inline void send(int signalled)
{
    memcpy(out, &count, sizeof count);
    memcpy(out + size - sizeof count, &count, sizeof count);
#if BENCH_SHMEM >= 105
    if (signalled) {
        shmem_putmem_signal(in, out, size, sig, (uint64_t)count, SHMEM_SIGNAL_SET, peer);
        return;
    }
#endif
    (void)signalled;
    shmem_putmem(in, out, size, peer);
    if (size > sizeof count) {
        shmem_fence();
        shmem_long_p(flag, count, peer);
    }
}

__attribute__((always_inline)) static inline void exchange(long n, int signalled)
{
    for (; n > 0 && plays(); n--) {
        count++;
        if (bench.pe == 0)
            send(signalled);
#if BENCH_SHMEM >= 105
        if (signalled)
            shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)count);
        else
#endif
            shmem_long_wait_until(size == sizeof count ? (long *)in : flag, SHMEM_CMP_EQ, count);
        if (bench.pe != 0)
            send(signalled);
    }
}

static void pingpong_put(long n) { exchange(n, 0); }
#if BENCH_SHMEM >= 105
static void pingpong_signal(long n) { exchange(n, 1); }
#endif

static void no_message(void)
{
    count = *flag = 0;
    *sig = 0;
    memset(in, 0, size);
    bench_fill(out, size, (unsigned)(bench.pe + 1));
}

static void last_message(const char *name)
{
    long last;
    memcpy(&last, in + size - sizeof last, sizeof last);
    bench_check(!plays() || last == count, "%s: message %ld instead of %ld", name, last, count);
    /* What the two numbers did not overwrite is the other's pattern. */
    for (size_t i = sizeof last; plays() && i + sizeof last < size; i++)
        bench_check(in[i] == bench_pattern(i, (size_t)peer + 1), "%s: byte %zu of %zu is %u", name, i, size, in[i]);
}

/* ---- Windows of transfers to different places, then quiet. */
#define WINDOWED(name, call)                                                                        \
    static void name(long n)                                                                        \
    {                                                                                               \
        for (; n > 0 && bench.pe == 0; n--) {                                                       \
            for (long i = 0; i < window; i++)                                                       \
                call(in + (size_t)i * size, out + (size_t)i * size, size, peer);                    \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }

WINDOWED(put, shmem_putmem)
WINDOWED(put_nbi, shmem_putmem_nbi)
WINDOWED(get, shmem_getmem)
WINDOWED(get_nbi, shmem_getmem_nbi)

static void filled(void)
{
    bench_fill(out, size * (size_t)window, (unsigned)bench.pe);
    memset(in, 0xff, size * (size_t)window);
}

static void came_to_0(const char *name)
{
    if (bench.pe == 0)
        bench_verify(in, size * (size_t)window, (unsigned)peer, name);
}

static void came_to_partner(const char *name)
{
    if (bench.pe == bench.partner)
        bench_verify(in, size * (size_t)window, 0, name);
}

/* ---- Small operations to 512 places in turn, with a quiet after each 512; sizes are constants, as mostly in programs. */
#define SMALL(name, call)                                                                           \
    static void name(long n)                                                                        \
    {                                                                                               \
        for (; n > 0 && bench.pe == 0; n--) {                                                       \
            for (size_t i = 0; i < PLACES; i++)                                                     \
                call;                                                                               \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }
#define PUT_AND_GET(bytes)                                                                          \
    SMALL(put_##bytes, shmem_putmem(in + i * bytes, out + i * bytes, bytes, peer))                  \
    SMALL(get_##bytes, shmem_getmem(in + i * bytes, out + i * bytes, bytes, peer))

SMALL(p_long, shmem_long_p((long *)in + i, ((long *)out)[i], peer))
SMALL(g_long, ((long *)in)[i] = shmem_long_g((long *)out + i, peer))
PUT_AND_GET(8)
PUT_AND_GET(64)

/* ---- Atomic operations: PE 0 on a word of its partner, which starts at 1. After the trial it is `final`, or 1 and one more for
 * each operation. */
#define ATOMIC(name, final, call)                                                                   \
    static void amo_##name(long n)                                                               \
    {                                                                                               \
        long result = 0;                                                                            \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            call;                                                                                   \
        (void)result;                                                                               \
    }
#define ATOMICS(X)                                                                                  \
    X(fetch, 1, result = shmem_long_atomic_fetch(words, peer))                                      \
    X(set, 7, shmem_long_atomic_set(words, 7, peer))                                                \
    X(swap, 7, result = shmem_long_atomic_swap(words, 7, peer))                                     \
    X(compare_swap, 1, result = shmem_long_atomic_compare_swap(words, 1, 1, peer))                  \
    X(fetch_add, 0, result = shmem_long_atomic_fetch_add(words, 1, peer))                           \
    X(add, 0, shmem_long_atomic_add(words, 1, peer))

ATOMICS(ATOMIC)

static void word_is_1(void) { *words = 1; }

/* ---- The message-rate test of the Sandia micro-benchmarks: each PE puts 128 messages to each of six peers (where there are
 * so many), then waits for the last one expected from each. That is a flag put after fence, and no message. Before each
 * iteration, outside the timed part, the caches are invalidated by a pass over as many bytes as they hold. */
static void cold(void)
{
    bench_pass_caches();
    iteration++;
    memcpy(out, &iteration, sizeof iteration);
}

static void messages(long n)
{
    (void)n;
    for (int j = 0; j < peers; j++) {
        int to = (bench.pe + 1 + j) % bench.npes;
        for (size_t k = 0; k < MESSAGES; k++)
            shmem_putmem(in + ((size_t)j * MESSAGES + k) * size, out, size, to);
        shmem_fence();
        shmem_long_p(&arrived[j], iteration, to);
    }
    for (int j = 0; j < peers; j++)
        shmem_long_wait_until(&arrived[j], SHMEM_CMP_GE, iteration);
}

static void last_messages(const char *name)
{
    for (size_t i = 0; i < (size_t)peers * MESSAGES; i++) {
        long stamp;
        memcpy(&stamp, in + i * size, sizeof stamp);
        bench_check(stamp == iteration, "%s: message %zu is of iteration %ld instead of %ld", name, i, stamp, iteration);
    }
}

/* ---- The table. */
#define BIG ((size_t)1 << 30)
#define RATE(name, op, bytes, check) {{name, op, .unit = BENCH_MOPS, .weight = PLACES}, filled, check, bytes, bytes, 0}
#define ATOMIC_ROW(name, final, call) \
    {{"atomic." #name, amo_##name, .weight = 1}, word_is_1, NULL, 8, 8, final + 1},
#define BANDWIDTH(name, op, check) {{name, op, .unit = BENCH_MBPS}, filled, check, 1, BIG, 0}

static const struct operation {
    struct bench_point point; /* the weight: half round trips, operations or messages to a peer; not of bandwidths */
    void (*begin)(void);
    void (*check)(const char *name);
    size_t least, most; /* sizes */
    long final;         /* of atomic operations: 1 more than ATOMIC's */
} operations[] = {
    {{"pingpong.put", pingpong_put, .weight = 2, .chained = 1}, no_message, last_message, sizeof(long), BIG, 0},
#if BENCH_SHMEM >= 105
    {{"pingpong.put_signal", pingpong_signal, .weight = 2, .chained = 1}, no_message, last_message, sizeof(long), BIG, 0},
#endif
    BANDWIDTH("bandwidth.put", put, came_to_partner), BANDWIDTH("bandwidth.put_nbi", put_nbi, came_to_partner),
    BANDWIDTH("bandwidth.get", get, came_to_0), BANDWIDTH("bandwidth.get_nbi", get_nbi, came_to_0),
    {{"msgrate.put", messages, cold, .whose = BENCH_MEAN, .unit = BENCH_MOPS, .weight = MESSAGES}, NULL, last_messages,
     sizeof(long), 65536, 0},
    RATE("rate.p", p_long, 8, came_to_partner), RATE("rate.g", g_long, 8, came_to_0),
    RATE("rate.put", put_8, 8, came_to_partner), RATE("rate.put", put_64, 64, came_to_partner),
    RATE("rate.get", get_8, 8, came_to_0), RATE("rate.get", get_64, 64, came_to_0),
    ATOMICS(ATOMIC_ROW)
};
#define OPERATIONS (sizeof operations / sizeof *operations)

static void measure(const struct operation *o)
{
    struct bench_point point = o->point;
    point.size = size;
    window = point.weight == PLACES ? PLACES : bench_window(size);
    if (point.unit == BENCH_MBPS)
        point.weight = (double)size * (double)window;
    if (point.op == messages)
        point.weight *= peers, point.exactly = bench.iters;
    if (o->begin != NULL)
        o->begin();
    bench_barrier();
    if (o->final > 0) {
        point.op(TRIAL);
        bench_barrier();
        long expected = o->final > 1 ? o->final - 1 : 1 + TRIAL;
        bench_check(bench.pe != bench.partner || *words == expected, "%s: %ld instead of %ld", point.name, *words, expected);
    }
    bench_measure(point);
    if (o->check != NULL)
        o->check(point.name);
    bench_barrier();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "operations need 2 PEs");
    peer = bench.pe == 0 ? bench.partner : 0;
    peers = bench.npes - 1 < PEERS ? bench.npes - 1 : PEERS;
    size_t wanted = 0, room = bench.max > 65536 ? bench.max : 65536, all = room;
    for (size_t o = 0; o < OPERATIONS; o++)
        if (bench_wanted(operations[o].point.name)) {
            wanted++;
            if (operations[o].point.op == messages)
                all = (size_t)PEERS * MESSAGES * (bench.max < 65536 ? bench.max : 65536) + room;
        }
    bench_check(wanted > 0, "only=: no such operation");
    in = bench_alloc(all);
    out = bench_alloc(room);
    flag = bench_alloc(APART);
    sig = bench_alloc(APART);
    words = bench_alloc(APART);
    arrived = bench_alloc(PEERS * sizeof *arrived);
    for (const struct operation *o = operations; o < operations + OPERATIONS; o++) {
        if (!bench_wanted(o->point.name))
            continue;
        size = o->least;
        if (o->least == o->most)
            measure(o);
        else
            for (size = bench_size_after(0, o->least, o->most); size > 0; size = bench_size_after(size, o->least, o->most))
                measure(o);
    }
#if BENCH_SHMEM < 105
    if (bench_wanted("pingpong.put_signal"))
        bench_skip("pingpong.put_signal", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
