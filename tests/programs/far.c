/* far: operations on PEs of other nodes. Each PE works with the one half of the PEs further on. */
#include "../c/check.h"
#include <sys/mman.h>
#include <unistd.h>

enum { N = 1000, BIG = 1 << 20, ROUNDS = 6, WORDS = 8, STEPS = 100 };

static long flag, word, array[N], strided[100], go, count;
static int narrow;
static uint64_t signal_word;
static char big[BIG], source[BIG];
static long shared[WORDS];
static int shared_narrow[WORDS];

/* Puts, gets, their order, and strides. */
static void transfers(int me, int to, int from)
{
    static long values[N], back[N];
    for (int i = 0; i < N; i++)
        values[i] = me * 1000L + i;
    shmem_long_put(array, values, N, to);
    shmem_fence();
    shmem_long_p(&flag, me + 1, to);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, from + 1);
    for (int i = 0; i < N; i++)
        CHECK_EQ(array[i], from * 1000L + i);
    shmem_long_get(back, array, N, to);
    for (int i = 0; i < N; i++)
        CHECK_EQ(back[i], values[i]);
    CHECK_EQ(shmem_long_g(&array[7], to), values[7]);
    shmem_long_iput(strided, values, 2, 3, 30, to);
    shmem_long_iget(back, strided, 1, 2, 30, to);
    for (int i = 0; i < 30; i++)
        CHECK_EQ(back[i], values[3 * i]);
    CHECK(shmem_ptr(array, to) == NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        memset(source, me + round, BIG);
        shmem_putmem_signal(big, source, BIG, &signal_word, (uint64_t)round, SHMEM_SIGNAL_SET, to);
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)round);
        for (int i = 0; i < BIG; i += 997)
            CHECK_EQ(big[i], (char)(from + round));
        CHECK_EQ(big[BIG - 1], (char)(from + round));
        shmem_long_atomic_inc(&go, from); /* It may write again. */
        shmem_long_wait_until(&go, SHMEM_CMP_GE, round);
    }
}

static void atomics(int to)
{
    CHECK_EQ(shmem_long_atomic_fetch_add(&word, 5, to), 0);
    CHECK_EQ(shmem_long_atomic_fetch(&word, to), 5);
    CHECK_EQ(shmem_long_atomic_compare_swap(&word, 5, 6, to), 5);
    CHECK_EQ(shmem_long_atomic_compare_swap(&word, 5, 7, to), 6);
    CHECK_EQ(shmem_long_atomic_swap(&word, 100, to), 6);
    shmem_long_atomic_inc(&word, to);
    shmem_long_atomic_set(&word, 200, to);
    shmem_long_atomic_add(&word, 3, to);
    CHECK_EQ(shmem_long_atomic_fetch(&word, to), 203);
    CHECK_EQ(shmem_int_atomic_fetch_add(&narrow, -3, to), 0);
    CHECK_EQ(shmem_int_atomic_fetch_inc(&narrow, to), -3);
    CHECK_EQ(shmem_int_atomic_compare_swap(&narrow, -2, 9, to), -2);
    CHECK_EQ(shmem_int_g(&narrow, to), 9);
}

/* All PEs, near ones by instructions and far ones by their agents, work on the same words: nothing
 * is lost. */
static void contended(int npes)
{
    for (int i = 0; i < STEPS; i++) {
        shmem_long_atomic_add(&shared[0], 1, 0);
        CHECK(shmem_long_atomic_fetch_add(&shared[1], 2, 0) % 2 == 0);
        shmem_int_atomic_inc(&shared_narrow[0], 0);
        long seen = shmem_long_atomic_fetch(&shared[2], 0), was;
        while ((was = shmem_long_atomic_compare_swap(&shared[2], seen, seen + 1, 0)) != seen)
            seen = was;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK_EQ(shared[0], (long)STEPS * npes);
        CHECK_EQ(shared[1], 2L * STEPS * npes);
        CHECK_EQ(shared[2], (long)STEPS * npes);
        CHECK_EQ(shared_narrow[0], STEPS * npes);
    }
}

/* What was issued arrives while the PE that issued it computes and calls nothing. */
static void pushed(int me, int to)
{
    static volatile long answered;
    char *heap = shmem_malloc(64 << 20);
    char *from = calloc(64, 1 << 20);
    CHECK(heap && from);
    from[(64 << 20) - 1] = 1;
    if (me == 0) {
        shmem_putmem_nbi(heap, from, 64 << 20, to);
        shmem_long_atomic_add(&count, 1, to);
        while (!answered)
            ;
    } else if (me == shmem_n_pes() / 2) {
        shmem_long_wait_until(&count, SHMEM_CMP_EQ, 1);
        CHECK_EQ(heap[(64 << 20) - 1], 1);
        shmem_long_p((long *)&answered, 1, 0);
    }
    shmem_barrier_all();
    shmem_free(heap);
    free(from);
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int to = (me + npes / 2) % npes, from = (me + npes - npes / 2) % npes;
    if (argc > 1 && !strcmp(argv[1], "busy")) { /* until its peer is lost */
        shmem_barrier_all();
        puts("begun");
        fflush(stdout);
        for (;;)
            if (!strcmp(argv[2], "put"))
                shmem_putmem(big, source, BIG, to);
            else if (!strcmp(argv[2], "get"))
                shmem_getmem(source, big, BIG, to);
            else
                shmem_long_atomic_fetch_add(&word, 1, to);
    }
    if (argc > 1 && !strcmp(argv[1], "refused")) { /* while others connect */
        if (me == 0)
            shmem_long_p(&word, 1, npes);
        for (;;)
            shmem_barrier_all();
    }
    if (argc > 1 && !strcmp(argv[1], "late")) { /* the last PE computes, and others wait for it */
        shmem_barrier_all();
        if (me == 0) {
            puts("begun");
            fflush(stdout);
        }
        if (me == npes - 1)
            sleep(1000);
        shmem_barrier_all();
    }
    if (argc > 1 && !strcmp(argv[1], "long")) { /* a put and, behind it, a get; others wait */
        size_t bytes = 22500000;
        char *there = shmem_calloc(2 * bytes, 1), *here = malloc(2 * bytes);
        for (size_t i = 0; i < 2 * bytes; i++)
            here[i] = (char)(i % 101);
        if (me == 0) {
            shmem_putmem_nbi(there, here, bytes, npes - 1);
            shmem_getmem(here + bytes, there + bytes, bytes, npes - 1);
            if (here[bytes] || here[2 * bytes - 1])
                return 1;
        }
        shmem_barrier_all();
        if (me == npes - 1 && memcmp(there, here, bytes))
            return 1;
        shmem_finalize();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "unmapped")) {
        char *half = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(half + BIG / 2, BIG / 2);
        if (!strcmp(argv[2], "put"))
            shmem_putmem(big, half, BIG, to);
        else
            shmem_getmem(half, big, BIG, to);
    }
    transfers(me, to, from);
    atomics(to);
    shmem_barrier_all();
    contended(npes);
    pushed(me, to);
    shmem_finalize();
    return 0;
}
