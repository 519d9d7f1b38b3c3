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

/* ---- Windows of transfers to different places, then quiet; in both directions the partner does the same. */
#define WINDOWED(name, both, call)                                                                  \
    static void name(long n)                                                                        \
    {                                                                                               \
        for (; n > 0 && (bench.pe == 0 || ((both) && plays())); n--) {                              \
            for (long i = 0; i < window; i++)                                                       \
                call(in + (size_t)i * size, out + (size_t)i * size, size, peer);                    \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }

WINDOWED(put, 0, shmem_putmem)
WINDOWED(put_both, 1, shmem_putmem)
WINDOWED(put_nbi, 0, shmem_putmem_nbi)
WINDOWED(get, 0, shmem_getmem)
WINDOWED(get_both, 1, shmem_getmem)
WINDOWED(get_nbi, 0, shmem_getmem_nbi)

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
#define P_AND_G(type)                                                                               \
    SMALL(p_##type, shmem_##type##_p((type *)in + i, ((type *)out)[i], peer))                       \
    SMALL(g_##type, ((type *)in)[i] = shmem_##type##_g((type *)out + i, peer))
#define PUT_AND_GET(bytes)                                                                          \
    SMALL(put_##bytes, shmem_putmem(in + i * bytes, out + i * bytes, bytes, peer))                  \
    SMALL(get_##bytes, shmem_getmem(in + i * bytes, out + i * bytes, bytes, peer))

P_AND_G(int)
P_AND_G(long)
P_AND_G(double)
PUT_AND_GET(8)
PUT_AND_GET(16)
PUT_AND_GET(32)
PUT_AND_GET(64)

/* ---- Atomic operations: PE 0 on a word of its partner, or all PEs on one of PE 0 (contended). A word starts at 1; after the
 * trial it is `final`, or 1 and one more for each operation. */
#define ATOMIC(type, T, name, final, call)                                                          \
    static void type##_##name(long n, int target, T *word)                                          \
    {                                                                                               \
        T result = 0;                                                                               \
        for (; n > 0; n--)                                                                          \
            call;                                                                                   \
        (void)result;                                                                               \
    }                                                                                               \
    static void alone_##type##_##name(long n)                                                       \
    {                                                                                               \
        if (bench.pe == 0)                                                                          \
            type##_##name(n, bench.partner, (T *)words);                                            \
    }                                                                                               \
    static void contended_##type##_##name(long n) { type##_##name(n, 0, (T *)words); }
#define ATOMICS(X)                                                                                  \
    X(long, long, fetch, 1, result = shmem_long_atomic_fetch(word, target))                         \
    X(long, long, set, 7, shmem_long_atomic_set(word, 7, target))                                   \
    X(long, long, swap, 7, result = shmem_long_atomic_swap(word, 7, target))                        \
    X(long, long, compare_swap, 1, result = shmem_long_atomic_compare_swap(word, 1, 1, target))     \
    X(long, long, fetch_add, 0, result = shmem_long_atomic_fetch_add(word, 1, target))              \
    X(long, long, add, 0, shmem_long_atomic_add(word, 1, target))                                   \
    X(uint64, uint64_t, fetch_and, 1, result = shmem_uint64_atomic_fetch_and(word, 3, target))      \
    X(uint64, uint64_t, fetch_or, 7, result = shmem_uint64_atomic_fetch_or(word, 6, target))        \
    X(uint64, uint64_t, fetch_xor, 1, result = shmem_uint64_atomic_fetch_xor(word, 2, target))

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
#define SMALL_ROWS(type)                                                                            \
    {"rate.p." #type, p_##type, NULL, BENCH_MOPS, BENCH_FIRST, PLACES, 0, filled, came_to_partner, sizeof(type), sizeof(type), 0}, \
    {"rate.g." #type, g_##type, NULL, BENCH_MOPS, BENCH_FIRST, PLACES, 0, filled, came_to_0, sizeof(type), sizeof(type), 0},
#define SIZED_ROWS(bytes)                                                                           \
    {"rate.put", put_##bytes, NULL, BENCH_MOPS, BENCH_FIRST, PLACES, 0, filled, came_to_partner, bytes, bytes, 0}, \
    {"rate.get", get_##bytes, NULL, BENCH_MOPS, BENCH_FIRST, PLACES, 0, filled, came_to_0, bytes, bytes, 0},
#define ATOMIC_ROWS(type, T, name, final, call)                                                     \
    {"atomic." #name, alone_##type##_##name, NULL, BENCH_NS, BENCH_FIRST, 1, 0, word_is_1, NULL, 8, 8, final + 1},     \
    {"contended." #name, contended_##type##_##name, NULL, BENCH_NS, BENCH_MEAN, 1, 0, word_is_1, NULL, 8, 8, final + 1},

static const struct operation {
    const char *name;
    void (*op)(long n);
    void (*prepare)(void); /* before each sample */
    int unit, who;
    double weight; /* half round trips, operations or messages to a peer in one operation; of bandwidths, directions */
    int chained;
    void (*begin)(void);
    void (*check)(const char *name);
    size_t least, most; /* sizes */
    long final;         /* of atomic operations: 1 more than ATOMIC's */
} operations[] = {
    {"pingpong.put", pingpong_put, NULL, BENCH_NS, BENCH_FIRST, 2, 1, no_message, last_message, sizeof(long), BIG, 0},
#if BENCH_SHMEM >= 105
    {"pingpong.put_signal", pingpong_signal, NULL, BENCH_NS, BENCH_FIRST, 2, 1, no_message, last_message, sizeof(long), BIG, 0},
#endif
    {"bandwidth.put", put, NULL, BENCH_MBPS, BENCH_FIRST, 1, 0, filled, came_to_partner, 1, BIG, 0},
    {"bandwidth.put_both", put_both, NULL, BENCH_MBPS, BENCH_SLOWEST, 2, 0, filled, came_to_partner, 1, BIG, 0},
    {"bandwidth.put_nbi", put_nbi, NULL, BENCH_MBPS, BENCH_FIRST, 1, 0, filled, came_to_partner, 1, BIG, 0},
    {"bandwidth.get", get, NULL, BENCH_MBPS, BENCH_FIRST, 1, 0, filled, came_to_0, 1, BIG, 0},
    {"bandwidth.get_both", get_both, NULL, BENCH_MBPS, BENCH_SLOWEST, 2, 0, filled, came_to_0, 1, BIG, 0},
    {"bandwidth.get_nbi", get_nbi, NULL, BENCH_MBPS, BENCH_FIRST, 1, 0, filled, came_to_0, 1, BIG, 0},
    {"msgrate.put", messages, cold, BENCH_MOPS, BENCH_MEAN, MESSAGES, 0, NULL, last_messages, sizeof(long), 65536, 0},
    SMALL_ROWS(int) SMALL_ROWS(long) SMALL_ROWS(double)
    SIZED_ROWS(8) SIZED_ROWS(16) SIZED_ROWS(32) SIZED_ROWS(64)
    ATOMICS(ATOMIC_ROWS)
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* Whether an atomic operation's trial has the right outcome. */
static int holds(const struct operation *o)
{
    int all = o->who == BENCH_MEAN, target = all ? 0 : bench.partner;
    o->op(TRIAL);
    bench_barrier();
    long expected = o->final > 1 ? o->final - 1 : 1 + TRIAL * (all ? bench.npes : 1);
    double wrong = bench.pe == target && *words != expected;
    int right = (int)bench_agree(bench_gather(wrong)[target] == 0);
    if (!right && bench.pe == 0)
        printf("WRONG %s outcome of %d operations a PE\n", o->name, TRIAL);
    return right;
}

static void measure(const struct operation *o)
{
    window = o->weight == PLACES ? PLACES : bench_window(size);
    if (o->begin != NULL)
        o->begin();
    bench_barrier();
    if (o->final > 0 && !holds(o))
        return;
    double weight = o->unit == BENCH_MBPS ? o->weight * (double)size * (double)window : o->weight;
    bench_measure((struct bench_point){.name = o->name, .size = size, .op = o->op, .prepare = o->prepare, .whose = o->who,
                                       .unit = o->unit, .weight = o->prepare ? weight * peers : weight,
                                       .exactly = o->prepare ? bench.iters : 0, .chained = o->chained});
    if (o->check != NULL)
        o->check(o->name);
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
        if (bench_wanted(operations[o].name)) {
            wanted++;
            if (operations[o].op == messages)
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
        if (!bench_wanted(o->name))
            continue;
        size = o->least;
        if (o->least == o->most)
            measure(o);
        else
            for (size = bench_size_after(0, o->least, o->most); size > 0; size = bench_size_after(size, o->least, o->most))
                measure(o);
    }
#if BENCH_SHMEM < 105
    bench_skip("pingpong.put_signal", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
