/* Threads that use one node at a time: they attach, map, make regions, open views, synchronise in groups
 * of their own and ask questions, all together. Also run under ThreadSanitizer. */
#include "job.h"
#include <pthread.h>

enum { HEAP = 1, OWN = 100, THREADS = 6, ROUNDS = 24 };

static onenode_t *node;
static onenode_view_t *view;
static onenode_table *table;
static long *heap;

/* Adds to a word of all ranks, attached by whoever comes first. */
static void add(long thread)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int r = 0; r < ranks; r++) {
            long *there = (long *)ONENODE_AT(table, view, &heap[thread], (size_t)r);
            CHECK(there != NULL);
            if (there != NULL)
                __atomic_fetch_add(there, 1, __ATOMIC_RELAXED);
        }
}

/* Maps what a peer has at an address. */
static void map(long thread)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t rank = (uint32_t)((me + i) % ranks);
        onenode_mapping_t *mapping;
        void *theirs = onenode_extra(node, rank), *there;
        uint64_t address;
        CHECK(theirs != NULL);
        while ((address = __atomic_load_n((uint64_t *)theirs, __ATOMIC_ACQUIRE)) == 0)
            usleep(100);
        WORKS(onenode_map(node, rank, address, 4096, &there, &mapping));
        __atomic_fetch_add((long *)there + thread, 1, __ATOMIC_RELAXED);
        WORKS(onenode_unmap(mapping));
    }
}

/* Makes regions and views of them that nobody else knows. */
static void make(long thread)
{
    onenode_table *own = table_for(1);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t key = OWN + (uint64_t)thread;
        onenode_view_t *one;
        long *start = (long *)region(node, key, ONENODE_ALLOC, NULL, 4096);
        CHECK(start != NULL && start[7] == 0);
        start[7] = 1;
        WORKS(onenode_view_open(node, &key, 1, own, &one));
        WORKS(onenode_view_close(one));
        WORKS(onenode_unregion(node, key));
    }
    free(own);
}

/* Synchronises with the same thread of the other ranks. */
static void synchronise(long thread)
{
    uint32_t all[MOST_RANKS];
    onenode_group_t *group;
    for (int r = 0; r < ranks; r++)
        all[r] = (uint32_t)r;
    WORKS(onenode_group_open(node, (uint64_t)thread, all, (uint32_t)ranks, &group));
    for (int i = 0; i < ROUNDS; i++) {
        WORKS(onenode_lock(group, &heap[THREADS], view, ONENODE_EVER));
        ++*(long *)ONENODE_AT(table, view, &heap[THREADS + 1], 0);
        WORKS(onenode_unlock(group, &heap[THREADS], view));
        WORKS(onenode_barrier(group, ONENODE_EVER));
    }
    WORKS(onenode_group_close(group));
}

/* Asks; the answers may change at any time. */
static void ask(long thread)
{
    (void)thread;
    for (int i = 0; i < ROUNDS; i++) {
        char text[1024];
        int state = onenode_state(node, (uint32_t)(i % ranks));
        CHECK(state == ONENODE_HERE || state == ONENODE_ATTACHED);
        CHECK(onenode_describe(node, text, sizeof text) > 0);
        onenode_explain(node, heap, text, sizeof text);
        FAILS(onenode_unregion(node, 77), ONENODE_EINVAL, "key = 0x4d");
    }
}

/* Threads that attach the same rank for the first time, all at once and each in its own way. */
struct racer {
    onenode_t *node;
    onenode_view_t *view;
    onenode_table *table;
    pthread_barrier_t *start;
    long *own;
    long *found[MOST_RANKS];
    int way;
};

static void *race(void *arg)
{
    struct racer *racer = (struct racer *)arg;
    for (int r = 0; r < ranks; r++) {
        size_t rank = (size_t)((me + r) % ranks);
        pthread_barrier_wait(racer->start);
        switch (racer->way) {
        case 0:
            WORKS(onenode_attach(racer->node, (uint32_t)rank, ONENODE_EVER));
            break;
        case 1:
            CHECK(onenode_extra(racer->node, (uint32_t)rank) != NULL);
            break;
        case 2:
            CHECK(onenode_resolve(racer->view, racer->own, rank) != NULL);
            break;
        default:
            CHECK(onenode_state(racer->node, (uint32_t)rank) >= ONENODE_HERE);
        }
        racer->found[rank] = (long *)ONENODE_AT(racer->table, racer->view, racer->own, rank);
        CHECK(racer->found[rank] != NULL && *racer->found[rank] == 100 + (long)rank);
    }
    return NULL;
}

/* All of them get the one mapping that there is. */
static void races(void)
{
    static const uint64_t key = HEAP;
    struct racer racers[THREADS];
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    onenode_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = (uint32_t)me;
    config.file = -1;
    config.extra = 64;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        onenode_table *own = table_for((size_t)ranks);
        onenode_view_t *one;
        onenode_t *fresh;
        long *words;
        char text[1024];
        WORKS(onenode_open(&config, &fresh));
        words = (long *)region(fresh, HEAP, ONENODE_ALLOC, NULL, 4096);
        words[3] = 100 + me;
        introduce(fresh, plainly);
        WORKS(onenode_view_open(fresh, &key, 1, own, &one));
        for (int i = 0; i < THREADS; i++) {
            struct racer racer = { fresh, one, own, &start, &words[3], { NULL }, (i + round) % 4 };
            racers[i] = racer;
            CHECK(pthread_create(&threads[i], NULL, race, &racers[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(memcmp(racers[i].found, racers[0].found, sizeof racers[0].found) == 0);
        CHECK(onenode_describe(fresh, text, sizeof text) > 0);
        meet();
        WORKS(onenode_view_close(one));
        WORKS(onenode_close(fresh));
        free(own);
    }
    pthread_barrier_destroy(&start);
}

static void *begin(void *number)
{
    static void (*const work[])(long) = { add, add, map, make, synchronise, ask };
    long thread = (long)(intptr_t)number;
    work[thread](thread);
    return NULL;
}

static void body(void)
{
    static const uint64_t key = HEAP;
    pthread_t threads[THREADS];
    onenode_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = (uint32_t)me;
    config.file = -1;
    config.extra = 64;
    WORKS(onenode_open(&config, &node));
    heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 8192);
    introduce(node, plainly);
    table = table_for((size_t)ranks);
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    __atomic_store_n((uint64_t *)onenode_extra(node, (uint32_t)me), (uint64_t)(uintptr_t)heap,
                     __ATOMIC_RELEASE);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, begin, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    meet();
    CHECK(heap[0] == (long)ROUNDS * ranks && heap[1] == (long)ROUNDS * ranks);
    CHECK(heap[2] == ROUNDS);
    CHECK(me != 0 || heap[THREADS + 1] == (long)ROUNDS * ranks);
    meet();
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
}

int main(void)
{
    run(1, 0, body);
    run(2, 0, body);
    run(3, 0, body);
    run(2, 0, races);
    run(3, 0, races);
    return failures != 0;
}
