/* Ping-pong between PEs 0 and 1, as in the paper that this project starts from:
 * putmem and wait, half of the round trip, minimum, mean and maximum.
 *
 * A message of 8 bytes is waited for by its own value. A longer one is followed
 * by fence and a flag, since a library may deliver one put's bytes in any order.
 * With OpenSHMEM 1.5 also by put_signal. All that is sent lies in the symmetric
 * heap; `pingpong.static` is the 8 bytes between two variables of the program. */
#include "bench.h"

static long *flag, static_word;
static uint64_t *sig;

struct exchange {
    unsigned char *in, *out;
    size_t size;
    long count; /* messages so far; both PEs count alike */
};

/* The number goes at both ends of the message, for the check. */
static void send(struct exchange *x, int peer)
{
    memcpy(x->out, &x->count, sizeof(long));
    if (x->size == sizeof(long)) {
        shmem_putmem(x->in, x->out, sizeof(long), peer);
        return;
    }
    memcpy(x->out + x->size - sizeof(long), &x->count, sizeof(long));
    shmem_putmem(x->in, x->out, x->size, peer);
    shmem_fence();
    shmem_long_p(flag, x->count, peer);
}

static void receive(struct exchange *x)
{
    shmem_long_wait_until(x->size == sizeof(long) ? (long *)x->in : flag, SHMEM_CMP_EQ, x->count);
}

static void put(void *arg, long n)
{
    struct exchange *x = arg;
    int me = bench.pe;
    if (me > 1)
        return;
    for (; n > 0; n--) {
        x->count++;
        if (me == 0)
            send(x, 1);
        receive(x);
        if (me == 1)
            send(x, 0);
    }
}

#if BENCH_SHMEM >= 105
static void put_signal(void *arg, long n)
{
    struct exchange *x = arg;
    int me = bench.pe;
    if (me > 1)
        return;
    for (; n > 0; n--) {
        x->count++;
        memcpy(x->out, &x->count, sizeof(long));
        memcpy(x->out + x->size - sizeof(long), &x->count, sizeof(long));
        if (me == 0)
            shmem_putmem_signal(x->in, x->out, x->size, sig, (uint64_t)x->count, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)x->count);
        if (me == 1)
            shmem_putmem_signal(x->in, x->out, x->size, sig, (uint64_t)x->count, SHMEM_SIGNAL_SET, 0);
    }
}
#endif

static void measure(const char *name, void (*op)(void *, long), unsigned char *in, unsigned char *out, size_t size)
{
    struct exchange x = {in, out, size, 0};
    *flag = 0;
    *sig = 0;
    memset(in, 0, size);
    bench_fill(out, size, (unsigned)(bench.pe + 1));
    bench_barrier();
    bench_measure((struct bench_point){.name = name, .size = size, .op = op, .arg = &x, .unit = BENCH_NS, .weight = 2, .chained = 1});
    if (bench.pe < 2) {
        long last;
        memcpy(&last, in + size - sizeof(long), sizeof(long));
        bench_check(last == x.count, "%s: message %ld instead of %ld", name, last, x.count);
        /* What the two numbers did not overwrite is the other PE's pattern. */
        unsigned char *expected = malloc(size);
        bench_fill(expected, size, (unsigned)(2 - bench.pe));
        if (size > 2 * sizeof(long))
            bench_check(memcmp(in + sizeof(long), expected + sizeof(long), size - 2 * sizeof(long)) == 0,
                        "%s: wrong data in a message of %zu bytes", name, size);
        free(expected);
    }
    bench_barrier();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "ping-pong needs 2 PEs");
    unsigned char *in = bench_alloc(bench.max), *out = bench_alloc(bench.max);
    flag = bench_alloc(sizeof *flag);
    sig = bench_alloc(sizeof *sig);
    measure("pingpong.static", put, (unsigned char *)&static_word, out, sizeof(long));
    BENCH_SIZES (size, sizeof(long), (size_t)1 << 30) {
        measure("pingpong.put", put, in, out, size);
#if BENCH_SHMEM >= 105
        measure("pingpong.put_signal", put_signal, in, out, size);
#endif
    }
#if BENCH_SHMEM < 105
    bench_skip("pingpong.put_signal", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
