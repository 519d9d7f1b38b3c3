/* Does the target have to help? PE 0 works on PE 1, first while PE 1 waits inside
 * the library, then while it computes and calls nothing. Where every PE reaches every
 * other's memory by itself the two figures are one. */
#include "bench.h"

#define BYTES 4096

static long *word, *stop;
static unsigned char *in, *out;

struct target {
    int computes;
};

/* PE 1's part: until PE 0 says stop, which is plain memory of PE 1's own. A target that
 * has to enter its library in order to be told would never end, so it looks in
 * every 100 ms; that is far longer than any operation should take. */
static void compute(void)
{
    volatile double x = 1;
    double look = bench_now() + 100e6;
    while (*(volatile long *)stop == 0) {
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
        if (bench_now() > look) {
            (void)shmem_long_test(stop, SHMEM_CMP_NE, 0);
            shmem_quiet();
            look = bench_now() + 100e6;
        }
    }
    *stop = 0;
}

#define PROGRESS(name, call)                                                                        \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        const struct target *t = arg;                                                               \
        if (bench.pe == 1 && t->computes)                                                           \
            compute();                                                                              \
        else if (bench.pe == 1)                                                                     \
            shmem_long_wait_until(stop, SHMEM_CMP_NE, 0), *stop = 0;                                \
        if (bench.pe != 0)                                                                          \
            return;                                                                                 \
        for (; n > 0; n--)                                                                          \
            call;                                                                                   \
        shmem_long_p(stop, 1, 1);                                                                  \
        shmem_quiet();                                                                              \
    }

PROGRESS(put, (shmem_putmem(in, out, BYTES, 1), shmem_quiet()))
PROGRESS(get, shmem_getmem(in, out, BYTES, 1))
PROGRESS(fetch_add, (void)shmem_long_atomic_fetch_add(word, 1, 1))

int main(int argc, char **argv)
{
    static const struct {
        const char *waits, *computes;
        void (*op)(void *, long);
        size_t size;
    } tests[] = {
        {"progress.put.target_waits", "progress.put.target_computes", put, BYTES},
        {"progress.get.target_waits", "progress.get.target_computes", get, BYTES},
        {"progress.fetch_add.target_waits", "progress.fetch_add.target_computes", fetch_add, sizeof(long)},
    };
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "progress needs 2 PEs");
    word = bench_alloc(sizeof *word);
    stop = bench_alloc(sizeof *stop);
    in = bench_alloc(BYTES);
    out = bench_alloc(BYTES);
    bench_fill(out, BYTES, (unsigned)(bench.pe + 1));
    bench_barrier();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        for (int computes = 0; computes < 2; computes++)
            bench_measure((struct bench_point){.name = computes ? tests[i].computes : tests[i].waits, .size = tests[i].size,
                                               .op = tests[i].op, .arg = &(struct target){computes}, .unit = BENCH_NS,
                                               .weight = 1});
    if (bench.pe == 0)
        bench_verify(in, BYTES, 2, "progress.get");
    if (bench.pe == 1) {
        bench_verify(in, BYTES, 1, "progress.put");
        bench_check(*word > 0, "progress.fetch_add: nothing was added");
    }
    bench_finish();
    return 0;
}
