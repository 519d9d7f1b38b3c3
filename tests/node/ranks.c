/* 1 to 16 ranks, numbered without and with holes: what each can reach of all others, at once and
 * after attaching, regions that come after the exchange, and atomics. */
#include "job.h"

enum { PROGRAM = 11, HEAP = 22, LATE = 33, HEAP_BYTES = 3 << 20, ROUNDS = 500 };

static long in_data = 7, in_bss[1000];

/* From 0 to 2^20. */
static uint32_t holes(int r)
{
    return r == 0 ? 5 : r == ranks - 1 ? 1u << 20 : (uint32_t)r * 1000 + 3;
}

static uint32_t (*number)(int);

static long *at(const onenode_table *table, onenode_view_t *view, void *own, int r)
{
    long *there = (long *)ONENODE_AT(table, view, own, number(r));
    if (there == NULL)
        failures++, fprintf(stderr, "rank %d from %d: %s\n", r, me, onenode_message());
    return there == NULL ? (long *)own : there;
}

static void body(void)
{
    static const uint64_t keys[] = { HEAP, PROGRAM }, late_key = LATE;
    onenode_table *table = table_for((1u << 20) + 1), *late_table = table_for(1);
    onenode_t *node = opened(number(me));
    onenode_view_t *view = NULL, *late = NULL;
    uint32_t numbers[MOST_RANKS], near = 0;
    long *heap, *shelf;
    char text[4096];

    region(node, PROGRAM, ONENODE_PROGRAM, NULL, 0);
    heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, HEAP_BYTES);
    in_data = 100 + me;
    heap[HEAP_BYTES / 8 - 1] = 200 + me;
    introduce(node, number);
    WORKS(onenode_view_open(node, keys, 2, table, &view));

    /* Nobody is attached, but oneself; all are there. */
    for (int r = 0; r < ranks; r++) {
        CHECK((onenode_at(table, &in_data, number(r)) == &in_data) == (r == me));
        CHECK(onenode_state(node, number(r)) == (r == me ? ONENODE_ATTACHED : ONENODE_HERE));
    }
    for (int r = 0; r < ranks; r++) {
        long *data = at(table, view, &in_data, r);
        CHECK(*data == 100 + r && *at(table, view, &heap[HEAP_BYTES / 8 - 1], r) == 200 + r);
        /* Now it is in the table. */
        CHECK(onenode_at(table, &in_data, number(r)) == data);
        CHECK(onenode_state(node, number(r)) == ONENODE_ATTACHED);
        CHECK(onenode_own(view, r == me ? (void *)&in_data : NULL, number(r)) == (r == me ? &in_data : NULL));
    }
    CHECK(onenode_at(table, &in_data, (1u << 20) + 1) == NULL);
    CHECK(onenode_at(table, text, number(0)) == NULL);
    CHECK(onenode_resolve(view, text, number(0)) == NULL);
    CHECK(strstr(onenode_message(), "onenode_resolve: no region of the view has") != NULL);
    CHECK(onenode_resolve(view, &in_data, (size_t)-1) == NULL);
    CHECK(strstr(onenode_message(), "onenode_resolve: rank = -1: expected") != NULL);

    /* Each adds to all, and leaves a word with all. */
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < ROUNDS; i++)
            __atomic_fetch_add(at(table, view, &in_bss[999], r), 1, __ATOMIC_RELAXED);
        *at(table, view, &heap[me], r) = 1000 * r + me;
    }
    meet();
    CHECK(in_bss[999] == (long)ranks * ROUNDS);
    for (int r = 0; r < ranks; r++)
        CHECK(heap[r] == 1000 * me + r);

    /* Made after the exchange, and after its view is opened elsewhere: who comes first waits. The table has
     * room for rank 0 alone; the others are reached all the same. */
    usleep((useconds_t)(me * 1000));
    shelf = (long *)region(node, LATE, ONENODE_ALLOC, NULL, 4096);
    shelf[1] = 300 + me;
    WORKS(onenode_view_open(node, &late_key, 1, late_table, &late));
    for (int r = 0; r < ranks; r++)
        numbers[r] = number(r);
    WORKS(onenode_attach_many(node, number == plainly ? NULL : numbers, (uint32_t)ranks, ONENODE_EVER, &near));
    CHECK(near == (uint32_t)ranks);
    for (int r = 0; r < ranks; r++) {
        long *there = (long *)onenode_resolve(late, &shelf[1], number(r));
        CHECK(there != NULL);
        /* The region is there before its word is written. */
        while (__atomic_load_n(there, __ATOMIC_ACQUIRE) == 0)
            usleep(1000);
        CHECK(*there == 300 + r);
        if (number(r) >= late_table->capacity)
            CHECK(onenode_at(late_table, &shelf[1], number(r)) == NULL);
    }

    /* By the owner's address. */
    {
        uintptr_t own = (uintptr_t)&shelf[1], all[MOST_RANKS];
        exchange(&own, sizeof own, all);
        for (int r = 0; r < ranks; r++) {
            CHECK(onenode_own(late, (void *)all[r], number(r)) == &shelf[1]);
            if (number(r) < late_table->capacity)
                CHECK(*(long *)onenode_there(late_table, (void *)all[r], number(r)) == 300 + r);
            CHECK(onenode_there(late_table, (void *)(all[r] + 4096), number(r)) == NULL);
        }
    }
    CHECK(onenode_describe(node, text, sizeof text) == strlen(text));
    CHECK(strstr(text, "region 0x21") != NULL && strstr(text, "backend ") != NULL);
    CHECK(onenode_describe(node, text, 10) > 10 && strlen(text) == 9);

    meet();
    WORKS(onenode_view_close(late));
    CHECK(onenode_at(late_table, &shelf[1], number(0)) == NULL);
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    CHECK(in_data == 100 + me && in_bss[999] == (long)ranks * ROUNDS);
    free(table);
    free(late_table);
}

int main(void)
{
    static const int some[] = { 1, 2, 3, 5, 16 };
    for (int i = 0; i < 5; i++) {
        number = plainly;
        run(some[i], 0, body);
        number = holes;
        run(some[i], 0, body);
    }
    return failures != 0;
}
