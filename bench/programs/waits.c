/* How long a waiting PE takes to see what another one does to its memory: a word
 * goes back and forth between PEs 0 and 1, half of the round trip, with each way to
 * send (p, an atomic, a signal) and each way to wait (wait_until, a loop of test,
 * the forms over many words). The word that changes is the last of many. */
#include "bench.h"

#define WORDS 64

static long *words;
static uint64_t *sig;

struct turns {
    long count;
};

static void wait_one(long value) { shmem_long_wait_until(&words[WORDS - 1], SHMEM_CMP_EQ, value); }
static void wait_test(long value)
{
    while (!shmem_long_test(&words[WORDS - 1], SHMEM_CMP_EQ, value))
        ;
}
static void send_p(long value, int peer) { shmem_long_p(&words[WORDS - 1], value, peer); }
static void send_set(long value, int peer) { shmem_long_atomic_set(&words[WORDS - 1], value, peer); }
static void send_inc(long value, int peer)
{
    (void)value;
    shmem_long_atomic_inc(&words[WORDS - 1], peer);
}
#if BENCH_SHMEM >= 105
/* 63 words stand still at 0: `any` and `some` have to pass by them, `all` leaves them out. */
static void wait_any(long value)
{
    bench_check(shmem_long_wait_until_any(words, WORDS, NULL, SHMEM_CMP_EQ, value) == WORDS - 1, "wait_until_any: wrong word");
}
static void wait_some(long value)
{
    size_t indices[WORDS];
    bench_check(shmem_long_wait_until_some(words, WORDS, indices, NULL, SHMEM_CMP_EQ, value) == 1 && indices[0] == WORDS - 1,
                "wait_until_some: wrong words");
}
static void wait_all(long value)
{
    static int skip[WORDS];
    for (int i = 0; i < WORDS - 1 && skip[i] == 0; i++)
        skip[i] = 1;
    shmem_long_wait_until_all(words, WORDS, skip, SHMEM_CMP_EQ, value);
}
static void wait_signal(long value) { shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)value); }
static void send_put_signal(long value, int peer)
{
    shmem_putmem_signal(words, words + 1, sizeof(long), sig, (uint64_t)value, SHMEM_SIGNAL_SET, peer);
}
static void send_signal_add(long value, int peer)
{
    (void)value;
    shmem_putmem_signal(words, words + 1, sizeof(long), sig, 1, SHMEM_SIGNAL_ADD, peer);
}
#endif
#if BENCH_SHMEM >= 106
static void send_signal_set(long value, int peer) { shmem_signal_set(sig, (uint64_t)value, peer); }
#endif

#define TURNS(name, send, wait)                                                                     \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        struct turns *t = arg;                                                                      \
        for (; n > 0 && bench.pe < 2; n--) {                                                        \
            t->count++;                                                                             \
            if (bench.pe == 0)                                                                      \
                send(t->count, 1);                                                                  \
            wait(t->count);                                                                         \
            if (bench.pe == 1)                                                                      \
                send(t->count, 0);                                                                  \
        }                                                                                           \
    }

TURNS(p_wait_until, send_p, wait_one)
TURNS(p_test, send_p, wait_test)
TURNS(set_wait_until, send_set, wait_one)
TURNS(inc_wait_until, send_inc, wait_one)
#if BENCH_SHMEM >= 105
TURNS(p_wait_any, send_p, wait_any)
TURNS(p_wait_some, send_p, wait_some)
TURNS(p_wait_all, send_p, wait_all)
TURNS(put_signal, send_put_signal, wait_signal)
TURNS(put_signal_add, send_signal_add, wait_signal)
#endif
#if BENCH_SHMEM >= 106
TURNS(signal_set, send_signal_set, wait_signal)
#endif

static const struct {
    const char *name;
    void (*op)(void *, long);
} tests[] = {
    {"wait.p", p_wait_until},
    {"wait.atomic_set", set_wait_until},
    {"wait.atomic_inc", inc_wait_until},
#if BENCH_SHMEM >= 105
    {"wait.p_any_of_64", p_wait_any},
    {"wait.p_some_of_64", p_wait_some},
    {"wait.p_all_but_63", p_wait_all},
    {"signal.put_signal_set", put_signal},
    {"signal.put_signal_add", put_signal_add},
#endif
#if BENCH_SHMEM >= 106
    {"signal.set", signal_set},
#endif
    {"wait.p_test_loop", p_test},
};

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "waiting needs 2 PEs");
    words = bench_alloc(WORDS * sizeof *words);
    sig = bench_alloc(sizeof *sig);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct turns t = {0};
        memset(words, 0, WORDS * sizeof *words);
        *sig = 0;
        bench_barrier();
        bench_measure((struct bench_point){.name = tests[i].name, .size = sizeof(long), .op = tests[i].op, .arg = &t,
                                           .unit = BENCH_NS, .weight = 2});
        if (bench.pe < 2)
            bench_check(words[WORDS - 1] == t.count || (long)*sig == t.count, "%s: the last value never came", tests[i].name);
        bench_barrier();
    }
#if BENCH_SHMEM < 105
    bench_skip("wait.many", "needs OpenSHMEM 1.5");
    bench_skip("signal.all", "needs OpenSHMEM 1.5");
#endif
    bench_finish();
    return 0;
}
