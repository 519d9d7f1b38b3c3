/* Every class of operation 1000 times, for callgrind to count the instructions of.
 * Run on one PE under `valgrind --tool=callgrind`; each class ends with a dump named
 * after it. The driver takes off what the classes `empty` took, so that what is left is the
 * library, from the jump into it to its return. */
#include "bench.h"
#include <valgrind/callgrind.h>

#if defined(__has_include)
#if __has_include(<shmemx.h>)
#include <shmemx.h>
#endif
#endif

#define CALLS 1000

static long word, words[CALLS];
static unsigned char in[4096] __attribute__((aligned(64))), out[4096] __attribute__((aligned(64)));
static int target;

/* What a loop takes that only has the arguments ready is not the library's. Where calls are compiled in (with
 * oneshmem, -DSHMEM_INLINE), that is `nothing`, and operands in registers; else `empty`, functions that only return. Weak,
 * so that the compiler neither looks into them nor leaves arguments out. */
#ifdef SHMEM_INLINE
#define NONE "nothing"
#define NO_CALL static inline __attribute__((always_inline))
#else
#define NONE "empty"
#define NO_CALL __attribute__((weak, noinline))
#endif
#define EMPTY(n, operands, ...)                                                                     \
    NO_CALL long empty##n(__VA_ARGS__)                                                              \
    {                                                                                               \
        long result;                                                                                \
        __asm__ volatile("" : "=r"(result) : operands : "memory");                                  \
        return result;                                                                              \
    }
#define AND ,
EMPTY(0, , void)
EMPTY(1, "r"(a), const void *a)
EMPTY(2, "r"(a) AND "r"(b), const void *a, int b)
EMPTY(3, "r"(a) AND "r"(b) AND "r"(c), const void *a, long b, int c)
EMPTY(4, "r"(a) AND "r"(b) AND "r"(c) AND "r"(d), const void *a, const void *b, long c, int d)
EMPTY(5, "r"(a) AND "r"(b) AND "r"(c) AND "r"(d) AND "r"(e), const void *a, const void *b, const void *c, long d, int e)
EMPTY(6, "r"(a) AND "r"(b) AND "r"(c) AND "r"(d) AND "r"(e) AND "r"(f), const void *a, const void *b, long c, long d, long e,
      int f)

#if defined(__has_include)
#if __has_include(<onenode.h>)
#define HAS_ONENODE
#include <onenode.h>

/* What onenode_at takes in a runtime's own put, with a table of a constant number of ranks and with one
 * that a pointer leads to; the peer is this process. */
static ONENODE_TABLE(peers, 4096);
onenode_table *peers_found = &peers.table;

__attribute__((weak, noinline)) void onenode_miss(long *dest, long value, size_t rank)
{
    (void)value;
    fprintf(stderr, "%p of rank %zu is not in the table\n", (void *)dest, rank);
    exit(1);
}
#define ONENODE_PUT(name, translated)                                                               \
    __attribute__((weak, noinline)) void name(long *dest, long value, size_t rank)                  \
    {                                                                                               \
        long *there = (long *)translated;                                                           \
        if (there)                                                                                  \
            *(volatile long *)there = value;                                                        \
        else                                                                                        \
            onenode_miss(dest, value, rank);                                                        \
    }
ONENODE_PUT(onenode_p, onenode_at_(&peers.table, 4096, dest, rank))
ONENODE_PUT(onenode_p_found, onenode_at(peers_found, dest, rank))

static void onenode_fill(void)
{
    peers.table.origin = (uintptr_t)&word;
    peers.word[2 + target] = sizeof word;
    peers.word[2 + 4096 + target] = (uintptr_t)&word;
}
#endif
#endif

/* `kind` is the number of arguments in registers, with `v` if there is a result. */
#define COUNT(kind, name, call)                                                                     \
    do {                                                                                            \
        for (int i = 0; i < 2; i++)                                                                 \
            call; /* bind lazily, attach, warm up: not counted */                                   \
        CALLGRIND_ZERO_STATS;                                                                       \
        for (int i = 0; i < CALLS; i++)                                                             \
            call;                                                                                   \
        CALLGRIND_DUMP_STATS_AT(kind " " name);                                                     \
    } while (0)

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    volatile long sink = 0;
    bench_fill(out, sizeof out, 1);
    COUNT("0", NONE, empty0());
    COUNT("0v", NONE, sink = empty0());
    COUNT("1v", NONE, sink = empty1(in));
    COUNT("2v", NONE, sink = empty2(in, target));
    COUNT("3", NONE, empty3(in, 1, target));
    COUNT("3v", NONE, sink = empty3(in, 1, target));
    COUNT("4", NONE, empty4(in, out, 8, target));
    COUNT("4v", NONE, sink = empty4(in, out, 8, target));
    COUNT("5", NONE, empty5(in, in, out, 8, target));
    COUNT("6", NONE, empty6(in, out, 2, 1, 8, target));
    COUNT("3", "p", shmem_long_p(&word, 1, target));
    COUNT("2v", "g", sink = shmem_long_g(&word, target));
    COUNT("4", "put 4 B", shmem_putmem(in, out, 4, target));
    COUNT("4", "put 8 B", shmem_putmem(in, out, 8, target));
    COUNT("4", "put 64 B", shmem_putmem(in, out, 64, target));
    /* Not more: the processor's string instruction is counted once for each byte. */
    COUNT("4", "put 2 KiB", shmem_putmem(in, out, 2048, target));
    COUNT("4", "put of a long", shmem_long_put(&word, (long *)out, 1, target));
    COUNT("4", "get 8 B", shmem_getmem(in, out, 8, target));
    COUNT("4", "get 64 B", shmem_getmem(in, out, 64, target));
    COUNT("4", "put nbi 8 B", shmem_putmem_nbi(in, out, 8, target));
    COUNT("6", "iput of 8", shmem_long_iput(words, (long *)out, 2, 1, 8, target));
    COUNT("3", "atomic set", shmem_long_atomic_set(&word, 1, target));
    COUNT("2v", "atomic fetch", sink = shmem_long_atomic_fetch(&word, target));
    COUNT("3v", "atomic swap", sink = shmem_long_atomic_swap(&word, 1, target));
    COUNT("4v", "atomic compare_swap", sink = shmem_long_atomic_compare_swap(&word, 1, 2, target));
    COUNT("3", "atomic add", shmem_long_atomic_add(&word, 1, target));
    COUNT("3v", "atomic fetch_add", sink = shmem_long_atomic_fetch_add(&word, 1, target));
    COUNT("3v", "atomic fetch_or", sink = (long)shmem_uint64_atomic_fetch_or((uint64_t *)&word, 1, target));
    COUNT("0", "fence", shmem_fence());
    COUNT("0", "quiet", shmem_quiet());
    shmem_long_p(&word, 5, target);
    COUNT("3", "wait_until met", shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5));
    COUNT("3v", "test", sink = shmem_long_test(&word, SHMEM_CMP_EQ, 5));
    COUNT("2v", "ptr", sink = (long)(intptr_t)shmem_ptr(&word, target));
    COUNT("0v", "my_pe", sink = shmem_my_pe());
    COUNT("0", "barrier_all of 1 PE", shmem_barrier_all());
    COUNT("1v", "malloc and free", shmem_free(shmem_malloc(64)));
#if BENCH_SHMEM >= 104
    shmem_ctx_t ctx;
    bench_check(shmem_ctx_create(0, &ctx) == 0, "no context");
    COUNT("4", "ctx p", shmem_ctx_long_p(ctx, &word, 1, target));
    COUNT("3v", "ctx g", sink = shmem_ctx_long_g(ctx, &word, target));
    COUNT("5", "ctx put 8 B", shmem_ctx_putmem(ctx, in, out, 8, target));
    COUNT("5", "ctx put 64 B", shmem_ctx_putmem(ctx, in, out, 64, target));
    COUNT("5", "ctx put 2 KiB", shmem_ctx_putmem(ctx, in, out, 2048, target));
    COUNT("5", "ctx get 8 B", shmem_ctx_getmem(ctx, in, out, 8, target));
    COUNT("4v", "ctx atomic fetch_add", sink = shmem_ctx_long_atomic_fetch_add(ctx, &word, 1, target));
    shmem_ctx_destroy(ctx);
#endif
#if BENCH_SHMEM >= 105
    static uint64_t sig;
    COUNT("6", "put_signal 8 B", shmem_putmem_signal(in, out, 8, &sig, 1, SHMEM_SIGNAL_SET, target));
    COUNT("1v", "signal_fetch", sink = (long)shmem_signal_fetch(&sig));
#endif
#ifdef SHMEMX_MALLOC_PARTITION
    /* Beside the heap's "malloc and free", which are two barriers, too. */
    shmemx_partition_info_t info;
    if (shmemx_partition_info(1, &info) == 0) {
        for (int i = 0; i < CALLS; i++)
            bench_check(shmemx_partition_take(100, 1) != NULL, "no room in partition 1");
        COUNT("1v", "partition take and give", shmemx_partition_give(shmemx_partition_take(100, 1)));
        /* Further pieces of the slot, beside the data segment. */
        char *pieces[] = {shmem_malloc(2048), shmemx_partition_take(2048, 1)};
        bench_check(pieces[0] != NULL && pieces[1] != NULL, "no room");
        COUNT("4", "heap put 2 KiB", shmem_putmem(pieces[0], out, 2048, target));
        COUNT("4", "partition put 2 KiB", shmem_putmem(pieces[1], out, 2048, target));
        long *heap = (long *)pieces[0], *partition = (long *)pieces[1];
        COUNT("6", "heap iput of 8", shmem_long_iput(heap, (long *)out, 2, 1, 8, target));
        COUNT("6", "partition iput of 8", shmem_long_iput(partition, (long *)out, 2, 1, 8, target));
    }
#endif
#ifdef HAS_ONENODE
    onenode_fill();
    COUNT("3", "onenode p", onenode_p(&word, 1, (size_t)target));
    COUNT("3", "onenode p, table by pointer", onenode_p_found(&word, 1, (size_t)target));
#endif
    (void)sink;
    bench_verify(in, 2048, 1, "calls");
    bench_finish();
    return 0;
}
