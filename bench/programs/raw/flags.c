/* A word of shared memory to and fro between two processes, half of the round trip:
 * the limit of every wait and every small message. Then a message copied by memcpy,
 * with the flag after it: the limit of the ping-pong. And a barrier, a ring and a lock
 * on shared words. */
#define BENCH_RAW
#include "../bench.h"

/* Longs between two processes' flags: a page, so that no prefetcher takes them together. */
#define APART 512

struct exchange {
    atomic_long *flags; /* one each, APART from one another */
    unsigned char *boxes, *out;
    size_t size, room;
    long count;
};

/* Which way to wait is quicker differs between machines: a tight loop sees a store sooner, one
 * with a pause keeps the line from being asked for while it is written. */
__attribute__((always_inline)) static inline void pingpong(void *arg, long n, int tight)
{
    struct exchange *x = arg;
    int me = bench.pe;
    atomic_long *mine = &x->flags[me * APART], *other = &x->flags[(1 - me) * APART];
    for (; n > 0 && me < 2; n--) {
        long count = ++x->count;
        for (int turn = 0; turn < 2; turn++) {
            if (turn != me) {
                while (atomic_load_explicit(mine, memory_order_acquire) < count)
                    if (!tight)
                        raw_pause();
                continue;
            }
            if (x->size > sizeof(long))
                memcpy(x->boxes + (size_t)(1 - me) * x->room, x->out, x->size);
            atomic_store_explicit(other, count, memory_order_release);
        }
    }
}

static void pingpong_tight(void *arg, long n) { pingpong(arg, n, 1); }
static void pingpong_pause(void *arg, long n) { pingpong(arg, n, 0); }

static void barrier(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        bench_barrier();
}

/* Each process has its word; the token goes from 0 round to 0. */
static void ring(void *arg, long n)
{
    struct exchange *x = arg;
    atomic_long *mine = &x->flags[bench.pe * APART], *next = &x->flags[(bench.pe + 1) % bench.npes * APART];
    for (; n > 0; n--) {
        long count = ++x->count;
        if (bench.pe == 0)
            atomic_store_explicit(next, count, memory_order_release);
        raw_await(mine, count);
        if (bench.pe != 0)
            atomic_store_explicit(next, count, memory_order_release);
    }
}

/* A ticket lock: next ticket, ticket served, and what it protects. */
struct lock {
    _Alignas(128) atomic_long next;
    _Alignas(128) atomic_long served;
    _Alignas(128) long counter;
    long rounds;
};

static void lock_rounds(struct lock *l, long n)
{
    for (; n > 0; n--) {
        long ticket = atomic_fetch_add_explicit(&l->next, 1, memory_order_acquire);
        raw_await(&l->served, ticket);
        l->counter++;
        atomic_store_explicit(&l->served, ticket + 1, memory_order_release);
    }
}

static void alone(void *arg, long n)
{
    if (bench.pe == 0)
        lock_rounds(arg, n);
}

static long handed_over;
static void handover(void *arg, long n)
{
    handed_over += n;
    lock_rounds(arg, n);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    struct exchange x = {.room = bench.max};
    x.flags = raw_alloc((size_t)bench.npes * APART * sizeof(long));
    struct lock *locks = raw_alloc(2 * sizeof *locks);
    struct bench_point p = {.arg = &x, .unit = BENCH_NS};

    p.name = "raw.barrier", p.op = barrier, p.weight = 1, p.whose = BENCH_SLOWEST;
    bench_measure(p);
    p.name = "raw.ring", p.op = ring, p.weight = bench.npes, p.whose = BENCH_FIRST, p.size = sizeof(long);
    bench_measure(p);
    /* What follows says nothing about crowds: a ticket lock waits for a process that has no CPU. */
    if (raw_crowded) {
        bench_finish();
        return 0;
    }
    p.name = "raw.lock_alone", p.op = alone, p.weight = 1, p.size = 0, p.arg = &locks[0];
    bench_measure(p);
    p.name = "raw.lock_handover", p.op = handover, p.weight = bench.npes, p.whose = BENCH_SLOWEST, p.arg = &locks[1];
    bench_measure(p);
    bench_barrier();
    bench_check(locks[1].counter == handed_over * bench.npes, "the ticket lock lost updates");

    if (bench.npes >= 2) {
        x.boxes = raw_alloc(2 * bench.max);
        x.out = malloc(bench.max);
        bench_check(x.out != NULL, "no memory");
        bench_fill(x.out, bench.max, (unsigned)bench.pe);
        p.arg = &x, p.weight = 2, p.whose = BENCH_FIRST;
        BENCH_SIZES (size, sizeof(long), (size_t)1 << 30) {
            for (int tight = 0; tight < 2; tight++) {
                p.name = tight ? "raw.pingpong.tight" : "raw.pingpong.pause";
                p.op = tight ? pingpong_tight : pingpong_pause;
                x.size = p.size = size;
                x.count = 0;
                if (bench.pe == 0)
                    memset(x.flags, 0, (size_t)bench.npes * APART * sizeof(long));
                bench_measure(p);
                if (bench.pe < 2 && size > sizeof(long))
                    bench_verify(x.boxes + (size_t)bench.pe * x.room, size, (unsigned)(1 - bench.pe), p.name);
                bench_barrier();
            }
        }
    }
    bench_finish();
    return 0;
}
