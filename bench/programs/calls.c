/* Every class of operation 1000 times, for callgrind to count the instructions of.
 * Run on one PE under `valgrind --tool=callgrind`; each class ends with a dump named
 * after it. `empty` is the loop around a function of as many arguments that returns
 * at once: what it costs is not the library's, except the return. */
#include "bench.h"
#include <valgrind/callgrind.h>

#define CALLS 1000

static long word, words[CALLS];
static unsigned char in[4096], out[4096];
static int target;

__attribute__((noinline)) static long empty(const void *a, const void *b, size_t size, int pe)
{
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(size), "r"(pe));
    return 0;
}

#define COUNT(name, call)                                                                           \
    do {                                                                                            \
        for (int i = 0; i < 2; i++)                                                                 \
            call; /* bind lazily, attach, warm up: not counted */                                   \
        CALLGRIND_ZERO_STATS;                                                                       \
        for (int i = 0; i < CALLS; i++)                                                             \
            call;                                                                                   \
        CALLGRIND_DUMP_STATS_AT(name);                                                              \
    } while (0)

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    volatile long sink = 0;
    bench_fill(out, sizeof out, 1);
    COUNT("empty", (void)empty(in, out, 8, target));
    COUNT("p", shmem_long_p(&word, 1, target));
    COUNT("g", sink = shmem_long_g(&word, target));
    COUNT("put 8 B", shmem_putmem(in, out, 8, target));
    COUNT("put 64 B", shmem_putmem(in, out, 64, target));
    COUNT("put 4 KiB", shmem_putmem(in, out, 4096, target));
    COUNT("get 8 B", shmem_getmem(in, out, 8, target));
    COUNT("get 64 B", shmem_getmem(in, out, 64, target));
    COUNT("put nbi 8 B", shmem_putmem_nbi(in, out, 8, target));
    COUNT("iput of 8", shmem_long_iput(words, (long *)out, 2, 1, 8, target));
    COUNT("atomic set", shmem_long_atomic_set(&word, 1, target));
    COUNT("atomic fetch", sink = shmem_long_atomic_fetch(&word, target));
    COUNT("atomic swap", sink = shmem_long_atomic_swap(&word, 1, target));
    COUNT("atomic compare_swap", sink = shmem_long_atomic_compare_swap(&word, 1, 2, target));
    COUNT("atomic add", shmem_long_atomic_add(&word, 1, target));
    COUNT("atomic fetch_add", sink = shmem_long_atomic_fetch_add(&word, 1, target));
    COUNT("atomic fetch_or", sink = (long)shmem_uint64_atomic_fetch_or((uint64_t *)&word, 1, target));
    COUNT("fence", shmem_fence());
    COUNT("quiet", shmem_quiet());
    shmem_long_p(&word, 5, target);
    COUNT("wait_until met", shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5));
    COUNT("test", sink = shmem_long_test(&word, SHMEM_CMP_EQ, 5));
    COUNT("ptr", sink = (long)(intptr_t)shmem_ptr(&word, target));
    COUNT("my_pe", sink = shmem_my_pe());
    COUNT("barrier_all of 1 PE", shmem_barrier_all());
    COUNT("malloc and free", shmem_free(shmem_malloc(64)));
#if BENCH_SHMEM >= 105
    static uint64_t sig;
    COUNT("put_signal 8 B", shmem_putmem_signal(in, out, 8, &sig, 1, SHMEM_SIGNAL_SET, target));
    COUNT("signal_fetch", sink = (long)shmem_signal_fetch(&sig));
#endif
    (void)sink;
    bench_verify(in, 4096, 1, "calls");
    bench_finish();
    return 0;
}
