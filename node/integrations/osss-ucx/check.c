/* The fast path without OSSS-UCX: forked processes as PEs, shared memory for PMIx. check PES PES_PER_NODE: nodes
 * are faked by cards that say another machine. Prints nothing if right. */
#define _GNU_SOURCE
#include "shmemc_onenode.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, HEAP_BYTES = 3 << 20, MANY = 20000, ROUNDS = 50 };

struct exchange {                       /* PMIx */
    int arrived;
    onenode_card card[MOST];
};

static struct exchange *exchange;
static int me, pes, pes_per_node;
static int failures, turns;

static long in_data = 1;                /* variables */
static char bytes_in_bss[4096];
static uint64_t signal_word, counter;
static uint32_t counter32;
static long flag;

#define CHECK(condition) \
    ((condition) ? (void) 0 : \
     (void) (failures++, fprintf(stderr, "PE %d, line %d: %s\n", me, __LINE__, #condition)))
/* One of the functions that leave a sentence. */
#define DO(call) \
    ((call) == 0 ? (void) 0 : (void) (fprintf(stderr, "PE %d: %s\n", me, shmemc_onenode_message()), exit(1)))

static void
barrier(void)
{
    int all = (__atomic_fetch_add(&exchange->arrived, 1, __ATOMIC_ACQ_REL) / pes + 1) * pes;
    while (__atomic_load_n(&exchange->arrived, __ATOMIC_ACQUIRE) < all)
        usleep(100);
}

static bool
near(int pe)
{
    return pe / pes_per_node == me / pes_per_node;
}

static void
progress(void)
{
    turns++;
}

/* All cards; those of PEs that are to be far say another start of the system. */
static void
get_cards(void)
{
    DO(shmemc_onenode_card(&exchange->card[me]));
    barrier();
    for (int pe = 0; pe < pes; pe++) {
        onenode_card card = exchange->card[pe];
        if (!near(pe))
            card.word[1]++;
        if (pe != me)
            DO(shmemc_onenode_know(pe, &card));
    }
}

/* What each PE does to PE pe, which may be itself. */
static void
reach(int pe, char *heap, char *second, bool all)
{
    long old = 0, fresh = 1000 + me, value = 0;
    char on_stack = 0;
    uint64_t one = 1, was = 0;
    bool here = near(pe);

    CHECK((shmemc_onenode_ptr(heap, pe) != NULL) == here);
    CHECK((shmemc_onenode_ptr(second + HEAP_BYTES - 1, pe) != NULL) == here);
    CHECK(shmemc_onenode_get(&old, &in_data, sizeof(old), pe) == here);
    CHECK(old == (here ? 1 + pe : 0));

    /* Each PE writes its own places, first a scalar's length and then others. */
    CHECK(shmemc_onenode_put(heap + 8 * me, &fresh, sizeof(fresh), pe) == here);
    CHECK(shmemc_onenode_put(bytes_in_bss + 32 * me, "bytes of any number.", (size_t) (12 + me % 8), pe) == here);
    CHECK(shmemc_onenode_get(&value, heap + 8 * me, sizeof(value), pe) == here);
    CHECK(value == (here ? fresh : 0));
    CHECK(!shmemc_onenode_put(&on_stack, &fresh, 1, pe));

    /* Signals and atomics are all UCX's as soon as one PE is far. */
    CHECK(shmemc_onenode_put_signal(heap + 4096 + 8 * me, &fresh, sizeof(fresh), &signal_word, 1, true, pe) == all);
    CHECK(shmemc_onenode_put_signal(NULL, NULL, 0, &signal_word, 1, true, pe) == all);
    CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_add, &counter, &one, 8, pe, &was) == all);
    CHECK(!shmemc_onenode_amo(SHMEMC_ONENODE_add, &counter, &one, 2, pe, NULL));
    CHECK(!shmemc_onenode_cswap(&counter, &one, &one, 2, pe, &was));
    CHECK(!shmemc_onenode_amo(SHMEMC_ONENODE_add, &was, &one, 8, pe, NULL));
}

/* All kinds of atomics, of both sizes, all PEs at once. */
static void
atomics(void)
{
    uint64_t old, other, back;
    uint32_t small = 3, small_old = 0, two = 2;

    for (int pe = 0; pe < pes; pe++) {
        uint64_t one = 1;
        for (int i = 1; i < MANY; i++)
            CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_add, &counter, &one, 8, pe, i % 2 ? &old : NULL));
        for (int i = 0; i < MANY; i++) {
            do {
                CHECK(shmemc_onenode_get(&small_old, &counter32, 4, pe));
                small = small_old + two;
                CHECK(shmemc_onenode_cswap(&counter32, &small_old, &small, 4, pe, &back));
            } while (memcmp(&back, &small_old, 4) != 0);
        }
    }
    barrier();
    CHECK(counter == (uint64_t) pes * MANY && counter32 == (uint32_t) pes * MANY * 2);
    barrier();
    if (me == 0) {
        int last = pes - 1;
        other = 0xf0;
        CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_swap, &counter, &other, 8, last, &old));
        CHECK(old == (uint64_t) pes * MANY);
        other = 0x0f;
        CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_or, &counter, &other, 8, last, &old) && old == 0xf0);
        other = 0x3c;
        CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_and, &counter, &other, 8, last, &old) && old == 0xff);
        other = 0x01;
        CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_xor, &counter, &other, 8, last, &old) && old == 0x3c);
        small = 7;
        CHECK(shmemc_onenode_amo(SHMEMC_ONENODE_swap, &counter32, &small, 4, last, &small_old));
        CHECK(small_old == (uint32_t) pes * MANY * 2);
        old = 8, other = 9;
        CHECK(shmemc_onenode_cswap(&counter, &old, &other, 8, last, &back) && back == 0x3d);
        CHECK(shmemc_onenode_cswap(&counter, &back, &other, 8, last, &back) && back == 0x3d);
    }
    barrier();
    CHECK(me != pes - 1 || (counter == 9 && counter32 == 7));
}

static void
collectives(char *heap)
{
    static long own, sum;
    static double real, most;
    long *from = (long *) (heap + (1 << 20)), *to = (long *) (heap + (2 << 20));

    /* Whoever waits makes progress. */
    turns = 0;
    if (me == pes - 1)
        usleep(50000);
    CHECK(shmemc_onenode_sync_all());
    CHECK(me == pes - 1 || turns > 0);
    for (int round = 0; round < ROUNDS; round++) {
        flag = round + 1;
        CHECK(shmemc_onenode_sync_all());
        for (int pe = 0; pe < pes; pe++) {
            long theirs = 0;
            CHECK(shmemc_onenode_get(&theirs, &flag, sizeof(theirs), pe) && theirs == round + 1);
        }
        CHECK(shmemc_onenode_sync_all());
        for (int pe = 0; pe < pes; pe++)
            from[pe] = 1000 * me + pe + round;
        CHECK(shmemc_onenode_alltoall(to, from, 8, 0, 0, pes));
        for (int pe = 0; pe < pes; pe++)
            CHECK(to[pe] == 1000 * pe + me + round);
        CHECK(shmemc_onenode_fcollect(to, from, 8, 0, 0, pes));
        for (int pe = 0; pe < pes; pe++)
            CHECK(to[pe] == 1000 * pe + round);
        own = me + round;
        CHECK(shmemc_onenode_reduce(&sum, &own, 1, SHMEMC_ONENODE_ELEMENT(long), SHMEMC_ONENODE_REDUCE_sum, 0, 0, pes));
        CHECK(sum == (long) pes * (pes - 1) / 2 + (long) pes * round);
        real = me == round % pes ? 7.5 : -1.0;
        CHECK(shmemc_onenode_reduce(&most, &real, 1, SHMEMC_ONENODE_ELEMENT(double), SHMEMC_ONENODE_REDUCE_max, 0, 0, pes));
        CHECK(most == 7.5);
    }
    /* What is SHCOLL's: other active sets, other types, buffers that are not symmetric. */
    CHECK(!shmemc_onenode_alltoall(to, from, 8, 0, 0, pes + 1) && !shmemc_onenode_alltoall(to, from, 8, 1, 0, pes));
    CHECK(pes == 1 || !shmemc_onenode_fcollect(to, from, 8, 0, 1, pes));
    CHECK(!shmemc_onenode_reduce(&sum, &own, 1, SHMEMC_ONENODE_ELEMENT(long double), ONENODE_SUM, 0, 0, pes));
    CHECK(!shmemc_onenode_reduce(&sum, &own, 1, ONENODE_DOUBLE, ONENODE_XOR, 0, 0, pes));
    long private_sum;
    CHECK(!shmemc_onenode_reduce(&private_sum, &own, 1, ONENODE_INT64, ONENODE_SUM, 0, 0, pes));
    CHECK(shmemc_onenode_sync_all());
}

static void
quiet(void)
{
    struct shmemc_onenode_far far = { 0, 0 };
    unsigned long seen, late;

    CHECK(!shmemc_onenode_quiet(&far, &seen));
    shmemc_onenode_far_begins(&far);
    CHECK(shmemc_onenode_quiet(&far, &seen));
    shmemc_onenode_far_begins(&far);                            /* during the flush, by another thread */
    shmemc_onenode_flushed(&far, seen);
    CHECK(shmemc_onenode_quiet(&far, &late) && late == seen + 1);
    shmemc_onenode_flushed(&far, late);
    CHECK(!shmemc_onenode_quiet(&far, &seen));
}

static int
run_pe(void)
{
    int peers = 0;
    unsigned waited = 0;
    void *start, *more;
    size_t got = 0;
    char *heap, *second;
    bool all = pes_per_node >= pes;

    in_data = 1 + me;
    for (int pe = 0; pe < pes; pe++)
        peers += near(pe);
    DO(shmemc_onenode_init(me, pes));
    CHECK(in_data == 1 + me);
    DO(shmemc_onenode_heap(HEAP_BYTES - 5, &start, &got));
    CHECK(got == HEAP_BYTES);
    DO(shmemc_onenode_heap(HEAP_BYTES, &more, &got));
    heap = start, second = more;
    CHECK(shmemc_onenode_ptr(heap, me) == NULL && !shmemc_onenode_sync_all());      /* not before attach */
    get_cards();
    barrier();
    DO(shmemc_onenode_attach(progress));
    CHECK(shmemc_onenode_ptr(heap, -1) == NULL && shmemc_onenode_ptr(heap, pes) == NULL);
    CHECK(shmemc_onenode_has_all() == all && shmemc_onenode_turn(&waited) == all);
    for (int pe = 0; pe < pes; pe++)
        reach(pe, heap, second, all);
    barrier();

    for (int pe = 0; pe < pes; pe++) {
        long value = near(pe) ? 1000 + pe : 0, signalled = all ? 1000 + pe : 0;
        CHECK(memcmp(heap + 8 * pe, &value, 8) == 0);
        CHECK(memcmp(heap + 4096 + 8 * pe, &signalled, 8) == 0);
        CHECK(strncmp(bytes_in_bss + 32 * pe, near(pe) ? "bytes of any number." : "", (size_t) (12 + pe % 8)) == 0);
    }
    CHECK(signal_word == (all ? 2 * (uint64_t) pes : 0) && counter == (all ? (uint64_t) pes : 0));
    barrier();
    quiet();
    if (all) {
        atomics();
        collectives(heap);
    } else {
        CHECK(!shmemc_onenode_sync_all());
        CHECK(!shmemc_onenode_reduce(heap, heap + 64, 1, ONENODE_INT64, ONENODE_SUM, 0, 0, pes));
    }
    barrier();
    DO(shmemc_onenode_fini());
    CHECK(shmemc_onenode_ptr(&in_data, me) == NULL && !shmemc_onenode_sync_all());  /* nor after fini */
    CHECK(in_data == 1 + me && peers > 0);
    return failures != 0;
}

/* What cannot work is refused with a sentence, and the path can be opened afterwards. */
static void
refuse(void)
{
    void *start;
    size_t got;
    onenode_card none = { { 0 } };

    DO(shmemc_onenode_init(0, 2));
    CHECK(shmemc_onenode_heap(0, &start, &got) == 1);
    CHECK(strstr(shmemc_onenode_message(), "a heap of 0 bytes") != NULL);
    CHECK(shmemc_onenode_know(1, &none) == 1);
    CHECK(strstr(shmemc_onenode_message(), "the card of PE 1") != NULL);
    CHECK(shmemc_onenode_attach(NULL) == 1);
    CHECK(strstr(shmemc_onenode_message(), "cannot attach all PEs: onenode_attach_many: rank 1 is not known") != NULL);
    DO(shmemc_onenode_fini());
    DO(shmemc_onenode_init(0, 1));
    for (int i = 0; i < 63; i++)
        DO(shmemc_onenode_heap(4096, &start, &got));
    CHECK(shmemc_onenode_heap(4096, &start, &got) == 1);
    CHECK(strstr(shmemc_onenode_message(), "63 symmetric heaps only") != NULL);
    DO(shmemc_onenode_attach(NULL));
    CHECK(shmemc_onenode_sync_all());
    DO(shmemc_onenode_fini());
}

int
main(int argc, char **argv)
{
    int bad = 0, status;

    if (argc != 3 || (pes = atoi(argv[1])) < 1 || pes > MOST || (pes_per_node = atoi(argv[2])) < 1) {
        fprintf(stderr, "usage: check PES PES_PER_NODE, with 1 to %d PEs\n", MOST);
        return 2;
    }
    exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    alarm(100);                                         /* nothing may hang */
    if (fork() == 0) {
        alarm(100);
        refuse();
        _exit(failures != 0);
    }
    bad |= wait(&status) < 0 || status != 0;
    for (me = 0; me < pes; me++)
        if (fork() == 0) {
            alarm(100);
            exit(run_pe());
        }
    while (wait(&status) > 0)
        bad |= status != 0;
    return bad;
}
