/* Locked instructions on a shared word, behind a call (to a weak function, so that the
 * compiler neither inlines it nor sees that the result is not used): by one
 * process alone, and by all at once on one word. 8 and 4 bytes cost the same. */
#define BENCH_RAW
#include "../bench.h"

struct contest {
    atomic_long *word;
    int everyone;
};

#define ATOMIC(name, action)                                                                        \
    __attribute__((weak, noinline)) long name##_call(atomic_long *word)                             \
    {                                                                                               \
        long one = 1;                                                                               \
        (void)one;                                                                                  \
        return (action);                                                                            \
    }                                                                                               \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        const struct contest *c = arg;                                                              \
        for (; n > 0 && (bench.pe == 0 || c->everyone); n--)                                        \
            name##_call(c->word);                                                                   \
    }

ATOMIC(fetch, atomic_load_explicit(word, memory_order_relaxed))
ATOMIC(set, (atomic_store_explicit(word, 7, memory_order_relaxed), 0))
ATOMIC(swap, atomic_exchange(word, 7))
ATOMIC(compare_swap, atomic_compare_exchange_strong(word, &one, 1))
ATOMIC(fetch_add, atomic_fetch_add(word, 1))
ATOMIC(add, (atomic_fetch_add(word, 1), 0))
ATOMIC(fetch_or, atomic_fetch_or(word, 6))
ATOMIC(or, (atomic_fetch_or(word, 6), 0))
/* Not the same as fetch_or where many do it: here each changes the word under the others. */
ATOMIC(fetch_xor, atomic_fetch_xor(word, 2))

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*op)(void *, long);
    } tests[] = {{"fetch", fetch}, {"set", set}, {"swap", swap}, {"compare_swap", compare_swap},
                 {"fetch_add", fetch_add}, {"add", add}, {"fetch_or", fetch_or}, {"or", or},
                 {"fetch_xor", fetch_xor}};
    bench_start(argc, argv);
    struct contest c = {raw_alloc(128), 0};
    for (; c.everyone < 2; c.everyone++)
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
            char name[64];
            snprintf(name, sizeof name, "raw.%s.%s", c.everyone ? "contended" : "atomic", tests[i].name);
            bench_measure((struct bench_point){.name = name, .size = sizeof(long), .op = tests[i].op, .arg = &c,
                                               .whose = c.everyone ? BENCH_MEAN : BENCH_FIRST, .unit = BENCH_NS, .weight = 1});
        }
    /* All processes' locked additions, and none lost. */
    bench_barrier();
    atomic_store(c.word, 0);
    bench_barrier();
    c.everyone = 1;
    add(&c, 1000);
    bench_barrier();
    bench_check(atomic_load(c.word) == 1000L * bench.npes, "locked additions were lost");
    bench_finish();
    return 0;
}
