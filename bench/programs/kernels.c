/* The irregular kernels that bale is known for, each word by itself: histogram (atomic increments of random words), index gather
 * (gets of random words) and a random permutation (darts thrown into a table twice as large, by compare-and-swap). Million
 * operations a second of all PEs together; the slowest PE's time. array/examples/kernels.rs is the same on distributed arrays. */
#include "bench.h"

#define PER_PE 1000 /* words of the table for each PE, per iteration asked for by iters= */

static long *table, words; /* of a PE */

/* A well mixed function of its argument (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Place `i` of this PE's sequence, below `all`. */
static size_t place(long i, size_t all)
{
    uint64_t random = mix(((uint64_t)bench.pe << 40) + (uint64_t)i);
    return (size_t)(((unsigned __int128)random * all) >> 64);
}

/* Word `at` of all, and the PE that has it, as arguments of a call. */
#define WORD(at) &table[(at) / (size_t)bench.npes], (int)((at) % (size_t)bench.npes)

/* Does this with random words `at` of all. */
#define KERNEL(name, call)                                                                          \
    static void name(long n)                                                                        \
    {                                                                                               \
        for (long i = 0; i < n * words; i++) {                                                      \
            size_t at = place(i, (size_t)words * (size_t)bench.npes);                               \
            call;                                                                                   \
        }                                                                                           \
        shmem_barrier_all();                                                                        \
    }

static inline void expect(size_t at, long found)
{
    if (found != (long)at)
        bench_check(0, "index gather: word %zu is %ld", at, found);
}

KERNEL(histogram, shmem_long_atomic_inc(WORD(at)))
KERNEL(gather, expect(at, shmem_long_g(WORD(at))))

/* Darts are numbers from 1. */
static void permutation(long n)
{
    size_t at, all = 2 * (size_t)words * (size_t)bench.npes;
    (void)n;
    long tries = 0;
    for (long dart = 1; dart <= words; dart++)
        do
            at = place(tries++, all);
        while (shmem_long_atomic_compare_swap(&table[at / (size_t)bench.npes], 0, (long)bench.pe * words + dart,
                                              (int)(at % (size_t)bench.npes)) != 0);
    shmem_barrier_all();
}

static void empty(void) { memset(table, 0, 2 * (size_t)words * sizeof *table); }
static void numbered(void)
{
    for (long i = 0; i < words; i++)
        table[i] = i * bench.npes + bench.pe;
}

/* The sum of all words of all PEs. */
static double sum(void)
{
    double mine = 0, all = 0;
    for (long i = 0; i < 2 * words; i++)
        mine += (double)table[i];
    const double *of = bench_gather(mine);
    for (int pe = 0; pe < bench.npes; pe++)
        all += of[pe];
    bench_barrier();
    return all;
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    words = PER_PE * bench.iters;
    table = bench_alloc(2 * (size_t)words * sizeof *table);
    double all = (double)words * bench.npes;
    struct bench_point point = {.unit = BENCH_MOPS, .whose = BENCH_SLOWEST, .exactly = 5, .weight = all};
    point.name = "kernel.histogram", point.op = histogram, point.prepare = empty;
    bench_measure(point);
    bench_check(sum() == all || bench.pe != 0, "histogram: not every increment is there");
    point.name = "kernel.gather", point.op = gather, point.prepare = numbered;
    bench_measure(point);
    point.name = "kernel.permutation", point.op = permutation, point.prepare = empty;
    bench_measure(point);
    bench_check(sum() == all * (all + 1) / 2 || bench.pe != 0, "permutation: not every dart is in the table");
    bench_finish();
    return 0;
}
