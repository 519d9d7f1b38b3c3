/* Small accesses to memory that another process shares: plain stores and loads, the
 * same behind a call that is not inlined (a library's least), memcpy of few bytes through
 * a pointer, and the message-rate pattern with memcpy and flags. */
#define BENCH_RAW
#include "../bench.h"

#define PLACES 512
#define MESSAGES 128
#define PEERS 6

static unsigned char *places, *out;
static size_t size;
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

__attribute__((weak, noinline)) void store_call(volatile long *place, long value) { *place = value; }
__attribute__((weak, noinline)) long load_call(const volatile long *place) { return *place; }

#define RATE(name, action)                                                                          \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        volatile long *longs = (volatile long *)places;                                             \
        (void)arg, (void)longs;                                                                     \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            for (long i = 0; i < PLACES; i++)                                                       \
                action;                                                                             \
    }

RATE(stores, longs[i] = i)
RATE(loads, (void)longs[i])
RATE(store_calls, store_call(&longs[i], i))
RATE(load_calls, (void)load_call(&longs[i]))
RATE(copies, copy(places + (size_t)i * size, out + (size_t)i * size, size))

/* As in msgrate.c. */
struct traffic {
    unsigned char *in; /* of all processes, one after the other */
    atomic_long *arrived;
    size_t share; /* of one process */
    int peers;
    long iteration;
};

static void prepare(void *arg)
{
    struct traffic *t = arg;
    bench_pass_caches();
    t->iteration++;
    memcpy(out, &t->iteration, sizeof(long));
}

static void iteration(void *arg, long n)
{
    struct traffic *t = arg;
    (void)n;
    for (int j = 0; j < t->peers; j++) {
        int peer = (bench.pe + 1 + j) % bench.npes;
        unsigned char *dest = t->in + (size_t)peer * t->share + (size_t)j * MESSAGES * size;
        for (int k = 0; k < MESSAGES; k++)
            memcpy(dest + (size_t)k * size, out, size);
        atomic_store_explicit(&t->arrived[peer * PEERS + j], t->iteration, memory_order_release);
    }
    for (int j = 0; j < t->peers; j++)
        raw_await(&t->arrived[bench.pe * PEERS + j], t->iteration);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    struct bench_point p = {.size = sizeof(long), .unit = BENCH_MOPS, .weight = PLACES};
    places = raw_alloc(PLACES * 64);
    out = aligned_alloc(4096, 65536);
    bench_check(out != NULL, "no memory");
    bench_fill(out, 65536, 1);
    p.name = "raw.store", p.op = stores;
    bench_measure(p);
    p.name = "raw.store_call", p.op = store_calls;
    bench_measure(p);
    for (long i = 0; i < PLACES; i++)
        bench_check(((volatile long *)places)[i] == i, "a store was lost");
    p.name = "raw.load", p.op = loads;
    bench_measure(p);
    p.name = "raw.load_call", p.op = load_calls;
    bench_measure(p);
    p.name = "raw.memcpy_call", p.op = copies;
    for (size = 8; size <= 64; size *= 2) {
        p.size = size;
        bench_measure(p);
        bench_verify(places, PLACES * size, 1, p.name);
    }
    if (bench.npes >= 2) {
        size_t most = bench.max < 65536 ? bench.max : 65536;
        struct traffic t = {.peers = bench.npes - 1 < PEERS ? bench.npes - 1 : PEERS, .share = PEERS * MESSAGES * most};
        t.in = raw_alloc((size_t)bench.npes * t.share);
        t.arrived = raw_alloc((size_t)bench.npes * PEERS * sizeof *t.arrived);
        /* Each process touches what it will receive into. */
        memset(t.in + (size_t)bench.pe * t.share, 0, t.share);
        BENCH_SIZES (bytes, sizeof(long), most) {
            size = bytes;
            bench_measure((struct bench_point){.name = "raw.msgrate", .size = size, .op = iteration, .arg = &t,
                                               .prepare = prepare, .whose = BENCH_MEAN, .unit = BENCH_MOPS,
                                               .weight = (double)t.peers * MESSAGES, .exactly = bench.iters});
            for (int i = 0; i < t.peers * MESSAGES; i++) {
                long stamp;
                memcpy(&stamp, t.in + (size_t)bench.pe * t.share + (size_t)i * size, sizeof stamp);
                bench_check(stamp == t.iteration, "raw.msgrate: message %d is of iteration %ld instead of %ld", i, stamp,
                            t.iteration);
            }
            bench_barrier();
        }
    }
    bench_finish();
    return 0;
}
