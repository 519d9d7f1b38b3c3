/* Processes that meet on shared words: a barrier on a central counter, a token round a ring, and a ticket lock,
 * alone and handed over. The limits of barriers, of the ring with more PEs than CPUs, and of locks. */
#define BENCH_RAW
#include "../bench.h"

struct tokens {
    atomic_long *flags; /* one each, RAW_APART from one another */
    long count;
};

static void barrier(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        bench_barrier();
}

/* Each process has its word; the token goes from 0 round to 0. */
static void ring(void *arg, long n)
{
    struct tokens *x = arg;
    atomic_long *mine = &x->flags[bench.pe * RAW_APART], *next = &x->flags[(bench.pe + 1) % bench.npes * RAW_APART];
    for (; n > 0; n--) {
        long count = ++x->count;
        if (bench.pe == 0)
            atomic_store_explicit(next, count, memory_order_release);
        raw_await(mine, count);
        if (bench.pe != 0)
            atomic_store_explicit(next, count, memory_order_release);
    }
}

/* A ticket lock: next ticket, ticket served, and what it protects. Its release only keeps stores in order. With
 * `completes` it also completes them, as shmem_clear_lock has to. */
struct lock {
    _Alignas(128) atomic_long next;
    _Alignas(128) atomic_long served;
    _Alignas(128) long counter;
    long rounds;
};

static inline void lock_rounds(struct lock *l, long n, int completes)
{
    for (; n > 0; n--) {
        long ticket = atomic_fetch_add_explicit(&l->next, 1, memory_order_acquire);
        raw_await(&l->served, ticket);
        l->counter++;
        if (completes)
            atomic_thread_fence(memory_order_seq_cst);
        atomic_store_explicit(&l->served, ticket + 1, memory_order_release);
    }
}

static void alone(void *arg, long n)
{
    if (bench.pe == 0)
        lock_rounds(arg, n, 0);
}

static void alone_completes(void *arg, long n)
{
    if (bench.pe == 0)
        lock_rounds(arg, n, 1);
}

static long handed_over;
static void handover(void *arg, long n)
{
    handed_over += n;
    lock_rounds(arg, n, 0);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    struct tokens x = {.flags = raw_alloc((size_t)bench.npes * RAW_APART * sizeof(long))};
    struct lock *locks = raw_alloc(2 * sizeof *locks);
    struct bench_point p = {.arg = &x, .unit = BENCH_NS};

    p.name = "raw.barrier", p.op = barrier, p.weight = 1, p.whose = BENCH_SLOWEST;
    bench_measure(p);
    p.name = "raw.ring", p.op = ring, p.weight = bench.npes, p.whose = BENCH_FIRST, p.size = sizeof(long);
    bench_measure(p);
    bench_check(atomic_load(&x.flags[bench.pe * RAW_APART]) == x.count, "raw.ring: the token was lost");
    /* What follows says nothing about crowds: a ticket lock waits for a process that has no CPU. */
    if (!raw_crowded) {
        p.name = "raw.lock_alone", p.op = alone, p.weight = 1, p.size = 0, p.arg = &locks[0];
        bench_measure(p);
        p.name = "raw.lock_alone_completes", p.op = alone_completes;
        bench_measure(p);
        p.name = "raw.lock_handover", p.op = handover, p.weight = bench.npes, p.whose = BENCH_SLOWEST, p.arg = &locks[1];
        bench_measure(p);
        bench_barrier();
        bench_check(locks[1].counter == handed_over * bench.npes, "the ticket lock lost updates");
    }
    bench_finish();
    return 0;
}
