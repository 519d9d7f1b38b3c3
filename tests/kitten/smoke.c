/* smoke: a self-checking program for every way this library can reach a peer: symmetric memory
 * in .data, .bss and heap, all atomics, waiting, locks and collectives. Made to run where there
 * is little else, on the Kitten kernel; tests/programs/families.rs does so through the Rust interface.
 *
 * Each PE prints `smoke: N passed, 0 failed` and ends with 0 if that is so. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

enum {
    WORDS = 3000,
    ROUNDS = 50,    /* lock rounds of each PE */
    MOST_PES = 254, /* SMARTMAP has no more slots */
};

static long data[WORDS] = {7, [WORDS - 1] = 7};
static long bss[WORDS];
static long flag, lock, guarded;
static uint64_t signal_word;
static long source[MOST_PES], dest[MOST_PES], pairs[2 * MOST_PES];

static int me, npes, next, previous;
static int passed, failed;

static void check(const char *what, int right)
{
    if (right) {
        passed++;
    } else {
        failed++;
        printf("smoke: PE %d: %s: wrong\n", me, what);
    }
}

/* Element `i` of what PE `pe` sends in round `round`. */
static long value(int pe, int round, int i)
{
    return pe * 1000000L + round * 100000L + i;
}

/* Put to the next PE, get from the one before. */
static void put_and_get(const char *what, int round, long *object)
{
    static long mine[WORDS], back[WORDS];
    int right = 1;
    for (int i = 0; i < WORDS; i++)
        mine[i] = value(me, round, i);
    shmem_barrier_all();
    shmem_long_put(object, mine, WORDS, next);
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        right &= object[i] == value(previous, round, i);
    check(what, right);
    shmem_getmem(back, object, sizeof back, next);
    right = 1;
    for (int i = 0; i < WORDS; i++)
        right &= back[i] == mine[i];
    check(what, right);
    shmem_barrier_all();
    shmem_long_p(object + 5, -1 - me, next);
    shmem_quiet();
    check(what, shmem_long_g(object + 5, next) == -1 - me);
    shmem_barrier_all();
    check(what, object[5] == -1 - previous);
    long *there = shmem_ptr(object, next);
    check(what, there != NULL && there[5] == -1 - me);
    shmem_barrier_all();
    /* Every other word, and back. */
    shmem_long_iput(object, mine, 2, 1, WORDS / 2, next);
    shmem_barrier_all();
    right = 1;
    for (int i = 0; i < WORDS / 2; i++)
        right &= object[2 * i] == value(previous, round, i);
    check(what, right);
    shmem_long_iget(back, object, 1, 2, WORDS / 2, next);
    right = 1;
    for (int i = 0; i < WORDS / 2; i++)
        right &= back[i] == mine[i];
    check(what, right);
    shmem_barrier_all();
}

/* Every atomic operation on the next PE's word, which only this PE uses. */
#define INTEGER(TYPE, NAME)                                                                \
    static void atomics_##NAME(void)                                                       \
    {                                                                                      \
        static TYPE word;                                                                  \
        shmem_barrier_all();                                                               \
        shmem_##NAME##_atomic_set(&word, 10, next);                                        \
        check(#NAME " set, fetch", shmem_##NAME##_atomic_fetch(&word, next) == 10);        \
        check(#NAME " swap", shmem_##NAME##_atomic_swap(&word, 11, next) == 10);           \
        check(#NAME " no swap",                                                            \
              shmem_##NAME##_atomic_compare_swap(&word, 10, 12, next) == 11);              \
        check(#NAME " compare_swap",                                                       \
              shmem_##NAME##_atomic_compare_swap(&word, 11, 12, next) == 11);              \
        check(#NAME " fetch_inc", shmem_##NAME##_atomic_fetch_inc(&word, next) == 12);     \
        shmem_##NAME##_atomic_inc(&word, next);                                            \
        check(#NAME " fetch_add", shmem_##NAME##_atomic_fetch_add(&word, 6, next) == 14);  \
        shmem_##NAME##_atomic_add(&word, 11, next);                                        \
        check(#NAME " add, inc", shmem_##NAME##_atomic_fetch(&word, next) == 31);          \
    }
#define BITWISE(TYPE, NAME)                                                                \
    INTEGER(TYPE, NAME)                                                                    \
    static void bits_##NAME(void)                                                          \
    {                                                                                      \
        static TYPE word;                                                                  \
        shmem_barrier_all();                                                               \
        shmem_##NAME##_atomic_set(&word, 31, next);                                        \
        check(#NAME " fetch_and", shmem_##NAME##_atomic_fetch_and(&word, 23, next) == 31); \
        shmem_##NAME##_atomic_and(&word, 7, next);                                         \
        check(#NAME " fetch_or", shmem_##NAME##_atomic_fetch_or(&word, 8, next) == 7);     \
        shmem_##NAME##_atomic_or(&word, 16, next);                                         \
        check(#NAME " fetch_xor", shmem_##NAME##_atomic_fetch_xor(&word, 3, next) == 31);  \
        shmem_##NAME##_atomic_xor(&word, 4, next);                                         \
        check(#NAME " and, or, xor", shmem_##NAME##_atomic_fetch(&word, next) == 24);      \
    }
#define FLOATING(TYPE, NAME)                                                               \
    static void atomics_##NAME(void)                                                       \
    {                                                                                      \
        static TYPE word;                                                                  \
        shmem_barrier_all();                                                               \
        shmem_##NAME##_atomic_set(&word, 1.5, next);                                       \
        check(#NAME " set, fetch", shmem_##NAME##_atomic_fetch(&word, next) == 1.5);       \
        check(#NAME " swap", shmem_##NAME##_atomic_swap(&word, 2.5, next) == 1.5);         \
        check(#NAME " swapped", shmem_##NAME##_atomic_fetch(&word, next) == 2.5);          \
    }
INTEGER(int, int)
INTEGER(long, long)
INTEGER(long long, longlong)
BITWISE(unsigned, uint)
BITWISE(unsigned long, ulong)
BITWISE(int32_t, int32)
BITWISE(int64_t, int64)
BITWISE(uint32_t, uint32)
BITWISE(uint64_t, uint64)
FLOATING(float, float)
FLOATING(double, double)

static void atomics(void)
{
    static long counter;
    atomics_int();
    atomics_long();
    atomics_longlong();
    atomics_uint(), bits_uint();
    atomics_ulong(), bits_ulong();
    atomics_int32(), bits_int32();
    atomics_int64(), bits_int64();
    atomics_uint32(), bits_uint32();
    atomics_uint64(), bits_uint64();
    atomics_float();
    atomics_double();
    shmem_barrier_all();
    for (int i = 0; i < 1000; i++)
        shmem_long_atomic_inc(&counter, 0);
    shmem_barrier_all();
    check("inc by all", shmem_long_atomic_fetch(&counter, 0) == 1000L * npes);
}

static void waiting_and_signals(void)
{
    shmem_barrier_all();
    shmem_long_p(&flag, 1 + me, next);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1 + previous);
    check("test", shmem_long_test(&flag, SHMEM_CMP_GE, 1) != 0);
    source[0] = 100 + me;
    shmem_long_put_signal(dest, source, 1, &signal_word, 5, SHMEM_SIGNAL_SET, next);
    uint64_t came = shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 5);
    check("signal set", came == 5 && dest[0] == 100 + previous);
    shmem_barrier_all();
    shmem_long_put_signal(dest, source, 1, &signal_word, 3, SHMEM_SIGNAL_ADD, previous);
    came = shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 8);
    check("signal add", came == 8 && dest[0] == 100 + next);
}

static void locks(void)
{
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&guarded, shmem_long_g(&guarded, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    check("lock", shmem_long_g(&guarded, 0) == (long)ROUNDS * npes);
}

static void fill(int round)
{
    shmem_barrier_all();
    for (int i = 0; i < npes; i++) {
        source[i] = value(me, round, i);
        dest[i] = -1;
    }
    shmem_barrier_all();
}

static void collectives(void)
{
    int right = 1;
    fill(0);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, npes, 0);
    for (int i = 0; i < npes; i++)
        right &= dest[i] == value(0, 0, i);
    check("broadcast", right);

    fill(1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, npes);
    right = 1;
    for (int i = 0; i < npes; i++) {
        long sum = 0;
        for (int pe = 0; pe < npes; pe++)
            sum += value(pe, 1, i);
        right &= dest[i] == sum;
    }
    check("sum", right);

    fill(2);
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, npes);
    right = 1;
    for (int i = 0; i < npes; i++)
        right &= dest[i] == value(npes - 1, 2, i);
    check("max", right);

    fill(3);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 1);
    right = 1;
    for (int pe = 0; pe < npes; pe++)
        right &= dest[pe] == value(pe, 3, 0);
    check("fcollect", right);

    fill(4);
    shmem_long_collect(SHMEM_TEAM_WORLD, pairs, source, 1 + me % 2);
    right = 1;
    for (int pe = 0, i = 0; pe < npes; i += 1 + pe % 2, pe++)
        right &= pairs[i] == value(pe, 4, 0);
    check("collect", right);

    fill(5);
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
    right = 1;
    for (int pe = 0; pe < npes; pe++)
        right &= dest[pe] == value(pe, 5, me);
    check("alltoall", right);

    /* A team of every other PE, and a context of its. */
    shmem_team_t team;
    shmem_ctx_t ctx;
    fill(6);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &team);
    check("team", (team != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    if (team != SHMEM_TEAM_INVALID) {
        int size = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
        check("context", shmem_team_create_ctx(team, 0, &ctx) == 0);
        shmem_ctx_long_p(ctx, dest, me, (mine + 1) % size);
        shmem_ctx_quiet(ctx);
        shmem_team_sync(team);
        check("team put", dest[0] == 2 * ((mine + size - 1) % size));
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (npes > MOST_PES)
        shmem_global_exit(2);
    next = (me + 1) % npes;
    previous = (me + npes - 1) % npes;
    check("initialised data", data[0] == 7 && data[WORDS - 1] == 7 && bss[0] == 0);
    long *heap = shmem_malloc(WORDS * sizeof *heap);
    check("heap", heap != NULL);
    for (int round = 0; round < 2; round++) {
        put_and_get(".data", round, data);
        put_and_get(".bss", round, bss);
        put_and_get("heap", round, heap);
    }
    atomics();
    waiting_and_signals();
    locks();
    collectives();
    shmem_free(heap);
    shmem_finalize();
    printf("smoke: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
