/* Every atomic operation: alone (PE 0 on a word of PE 1, nobody else near it) and
 * contended (all PEs on one word of PE 0). Nanoseconds for one operation of one
 * PE; each first applied 1000 times by each PE, and the outcome checked. */
#include "bench.h"

#define TRIAL 1000

/* Each word has its cache lines to itself. */
static union {
    int int_;
    long long_;
    uint32_t uint32_;
    uint64_t uint64_;
    float float_;
    double double_;
    char lines[128];
} *words; /* one for each kind of contest */

struct contest {
    int everyone, target;
};

/* A word starts at 1; after the trial it is `final`, or 1 + trials if that is 0. */
#define OPERATION(type, T, name, final_, call)                                                      \
    static void type##_##name(void *arg, long n)                                                    \
    {                                                                                               \
        const struct contest *c = arg;                                                              \
        T *word = &words[c->everyone].type##_;                                                      \
        int pe = c->target;                                                                         \
        T result = 0;                                                                               \
        if (bench.pe != 0 && !c->everyone)                                                          \
            return;                                                                                 \
        for (; n > 0; n--)                                                                          \
            call;                                                                                   \
        (void)result;                                                                               \
    }                                                                                               \
    static int type##_##name##_holds(struct contest *c)                                            \
    {                                                                                               \
        words[c->everyone].type##_ = 1;                                                             \
        bench_barrier();                                                                            \
        type##_##name(c, TRIAL);                                                                    \
        bench_barrier();                                                                            \
        T expected = (T)((final_) ? (final_) : 1 + TRIAL * (c->everyone ? bench.npes : 1));         \
        double wrong = bench.pe == c->target && words[c->everyone].type##_ != expected;             \
        return bench_agree(bench_gather(wrong)[c->target] == 0);                                    \
    }

#define STANDARD(type, T, X)                                                                        \
    X(type, T, fetch, 1, result = shmem_##type##_atomic_fetch(word, pe))                            \
    X(type, T, set, 7, shmem_##type##_atomic_set(word, 7, pe))                                      \
    X(type, T, swap, 7, result = shmem_##type##_atomic_swap(word, 7, pe))

#define INTEGER(type, T, X)                                                                         \
    STANDARD(type, T, X)                                                                            \
    X(type, T, compare_swap, 1, result = shmem_##type##_atomic_compare_swap(word, 1, 1, pe))        \
    X(type, T, fetch_inc, 0, result = shmem_##type##_atomic_fetch_inc(word, pe))                    \
    X(type, T, inc, 0, shmem_##type##_atomic_inc(word, pe))                                         \
    X(type, T, fetch_add, 0, result = shmem_##type##_atomic_fetch_add(word, 1, pe))                 \
    X(type, T, add, 0, shmem_##type##_atomic_add(word, 1, pe))

#define BITWISE(type, T, X)                                                                         \
    X(type, T, fetch_and, 1, result = shmem_##type##_atomic_fetch_and(word, 3, pe))                 \
    X(type, T, and, 1, shmem_##type##_atomic_and(word, 3, pe))                                      \
    X(type, T, fetch_or, 7, result = shmem_##type##_atomic_fetch_or(word, 6, pe))                   \
    X(type, T, or, 7, shmem_##type##_atomic_or(word, 6, pe))                                        \
    X(type, T, fetch_xor, 1, result = shmem_##type##_atomic_fetch_xor(word, 2, pe))                 \
    X(type, T, xor, 1, shmem_##type##_atomic_xor(word, 2, pe))

/* Results may be overwritten by the next call before anyone looks: allowed until quiet. */
#define NONBLOCKING(X)                                                                              \
    X(long, long, fetch_nbi, 1, shmem_long_atomic_fetch_nbi(&result, word, pe))                     \
    X(long, long, swap_nbi, 7, shmem_long_atomic_swap_nbi(&result, word, 7, pe))                    \
    X(long, long, compare_swap_nbi, 1, shmem_long_atomic_compare_swap_nbi(&result, word, 1, 1, pe)) \
    X(long, long, fetch_inc_nbi, 0, shmem_long_atomic_fetch_inc_nbi(&result, word, pe))             \
    X(long, long, fetch_add_nbi, 0, shmem_long_atomic_fetch_add_nbi(&result, word, 1, pe))

#if BENCH_SHMEM >= 105
#define ALL_NONBLOCKING(X) NONBLOCKING(X)
#else
#define ALL_NONBLOCKING(X)
#endif

#define ALL(X)                                                                                      \
    INTEGER(long, long, X) BITWISE(uint64, uint64_t, X) STANDARD(double, double, X) ALL_NONBLOCKING(X)    \
    BITWISE(uint32, uint32_t, X) STANDARD(float, float, X) INTEGER(int, int, X)

ALL(OPERATION)

#define ENTRY(type, T, name, final_, call) {#name "." #type, sizeof(T), type##_##name, type##_##name##_holds},
static const struct {
    const char *name;
    size_t size;
    void (*op)(void *, long);
    int (*holds)(struct contest *);
} operations[] = {ALL(ENTRY)};

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    words = bench_alloc(2 * sizeof *words);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        for (int everyone = 0; everyone < 2; everyone++) {
            struct contest c = {everyone, everyone ? 0 : 1 % bench.npes};
            char name[64];
            snprintf(name, sizeof name, "%s.%s", everyone ? "contended" : "atomic", operations[i].name);
            if (!bench_wanted(name))
                continue;
            if (!operations[i].holds(&c)) {
                if (bench.pe == 0)
                    printf("WRONG %s outcome of %d operations a PE\n", name, TRIAL);
                continue;
            }
            bench_measure((struct bench_point){.name = name, .size = operations[i].size, .op = operations[i].op, .arg = &c,
                                               .whose = everyone ? BENCH_MEAN : BENCH_FIRST, .unit = BENCH_NS, .weight = 1});
        }
    }
#if BENCH_SHMEM < 105
    bench_skip("atomic.nbi", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
