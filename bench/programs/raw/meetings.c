/* Processes that meet on shared words: a barrier on a central counter, and a token round a ring. The limits of
 * barriers and of the ring with more PEs than CPUs. */
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

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    struct tokens x = {.flags = raw_alloc((size_t)bench.npes * RAW_APART * sizeof(long))};
    struct bench_point p = {.arg = &x, .unit = BENCH_NS};

    p.name = "raw.barrier", p.op = barrier, p.weight = 1, p.whose = BENCH_SLOWEST;
    bench_measure(p);
    p.name = "raw.ring", p.op = ring, p.weight = bench.npes, p.whose = BENCH_FIRST, p.size = sizeof(long);
    bench_measure(p);
    bench_check(atomic_load(&x.flags[bench.pe * RAW_APART]) == x.count, "raw.ring: the token was lost");
    bench_finish();
    return 0;
}
