/* Groups: barriers whole and in halves, of all and of some ranks, collectives of every kind with their
 * results, and what ends them. */
#include "job.h"

enum { HEAP = 1, WORDS = 4096, LOST = 1 };

static void barriers(onenode_t *node, onenode_view_t *view, const onenode_table *table, long *heap)
{
    uint32_t all[MOST_RANKS], some[MOST_RANKS], n = 0;
    onenode_group_t *group, *evens;

    for (int r = 0; r < ranks; r++)
        all[r] = (uint32_t)(ranks - 1 - r);
    for (int r = me % 2; r < ranks; r += 2)
        some[n++] = (uint32_t)r;
    WORKS(onenode_group_open(node, 1, all, (uint32_t)ranks, &group));
    WORKS(onenode_group_open(node, 2, some, n, &evens));
    heap[0] = 0;
    WORKS(onenode_barrier(group, ONENODE_EVER));
    for (int round = 1; round <= 100; round++) {
        for (int r = 0; r < ranks; r++)
            __atomic_fetch_add((long *)ONENODE_AT(table, view, heap, (size_t)r), 1, __ATOMIC_RELAXED);
        if (round % 2 == 0) {
            WORKS(onenode_barrier(group, ONENODE_EVER));
        } else {
            int come;
            WORKS(onenode_arrive(group));
            while ((come = onenode_arrived(group)) == 0)
                usleep(10);
            CHECK(come == 1);
        }
        CHECK(heap[0] == (long)round * ranks);
        WORKS(onenode_barrier(evens, ONENODE_EVER));
        WORKS(onenode_barrier(group, ONENODE_EVER));
    }
    FAILS(onenode_arrived(group), ONENODE_EINVAL, "onenode_arrived: group = one at which this process has not arrived");
    WORKS(onenode_group_close(evens));
    WORKS(onenode_group_close(group));
}

static onenode_collective of(uint32_t operation, void *dest, const void *source, uint64_t bytes,
                             onenode_view_t *view)
{
    onenode_collective call;
    memset(&call, 0, sizeof call);
    call.size = sizeof call;
    call.operation = operation;
    call.dest = dest;
    call.source = source;
    call.bytes = bytes;
    call.view = view;
    return call;
}

static void collectives(onenode_t *node, onenode_view_t *view, long *heap)
{
    static const int sizes[] = { 1, 5, 100 };
    long *source = heap, *dest = heap + MOST_RANKS * 128;
    uint32_t all[MOST_RANKS];
    onenode_group_t *group;
    onenode_collective call;

    for (int r = 0; r < ranks; r++)
        all[r] = (uint32_t)r;
    WORKS(onenode_group_open(node, 3, all, (uint32_t)ranks, &group));
    for (int s = 0; s < 3; s++) {
        int n = sizes[s];
        uint64_t bytes = (uint64_t)n * sizeof(long);
        for (int i = 0; i < n * ranks; i++)
            source[i] = 1000 * me + i, dest[i] = -1;
        WORKS(onenode_barrier(group, ONENODE_EVER));

        call = of(ONENODE_BROADCAST, dest, source, bytes, view);
        call.root = (uint32_t)ranks - 1;
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int i = 0; i < n; i++)
            CHECK(dest[i] == 1000 * (ranks - 1) + i);

        call = of(ONENODE_ALLGATHER, dest, source, bytes, view);
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int r = 0; r < ranks; r++)
            for (int i = 0; i < n; i++)
                CHECK(dest[r * n + i] == 1000 * r + i);

        call = of(ONENODE_ALLTOALL, dest, source, bytes, view);
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int r = 0; r < ranks; r++)
            for (int i = 0; i < n; i++)
                CHECK(dest[r * n + i] == 1000 * r + me * n + i);

        call = of(ONENODE_ALLREDUCE, dest, source, bytes, view);
        call.reduction = ONENODE_SUM;
        call.element = ONENODE_INT64;
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int i = 0; i < n; i++)
            CHECK(dest[i] == 1000L * ranks * (ranks - 1) / 2 + (long)ranks * i);
        call.reduction = ONENODE_MAX;
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        CHECK(dest[n - 1] == 1000 * (ranks - 1) + n - 1);

        call.operation = ONENODE_SCAN;
        call.reduction = ONENODE_SUM;
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int i = 0; i < n; i++)
            CHECK(dest[i] == 1000L * me * (me + 1) / 2 + (me + 1L) * i);
        call.operation = ONENODE_EXSCAN;
        WORKS(onenode_run(group, &call, ONENODE_EVER));
        for (int i = 0; i < n; i++)
            CHECK(dest[i] == 1000L * me * (me - 1) / 2 + (long)me * i);
        WORKS(onenode_barrier(group, ONENODE_EVER));
    }

    /* Before anything else, so that the group goes on. */
    call = of(9, dest, source, 8, view);
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "collective.operation = 9: expected 1 (Broadcast)");
    call = of(ONENODE_BROADCAST, dest, source, 8, view), call.root = (uint32_t)ranks;
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "onenode_run: root = ");
    call = of(ONENODE_ALLGATHER, dest, source, 8, view), call.root = 1;
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "collective.root = 1: expected 0");
    call = of(ONENODE_ALLREDUCE, dest, source, 8, view);
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "collective.reduction = 0: expected 1 (And)");
    call.reduction = ONENODE_XOR, call.element = ONENODE_DOUBLE;
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "collective.reduction = Xor of F64");
    call.element = ONENODE_INT64, call.bytes = 12;
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "bytes = 12: expected whole elements of 8 bytes");
    call = of(ONENODE_ALLGATHER, &group, source, 8, view);
    FAILS(onenode_run(group, &call, 0), ONENODE_ENOMAP, "no region of the view");
    call = of(ONENODE_ALLGATHER, dest, source, 8, NULL);
    FAILS(onenode_run(group, &call, 0), ONENODE_EINVAL, "collective.view = NULL");
    FAILS(onenode_run(group, NULL, 0), ONENODE_EINVAL, "collective = NULL");
    FAILS(onenode_run(NULL, &call, 0), ONENODE_EINVAL, "group = NULL");
    WORKS(onenode_barrier(group, ONENODE_EVER));
    WORKS(onenode_group_close(group));
}

static void body(void)
{
    static const uint64_t key = HEAP;
    onenode_table *table = table_for((size_t)ranks);
    onenode_t *node = opened((uint32_t)me);
    onenode_view_t *view;
    long *heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, WORDS * sizeof(long));
    introduce(node, plainly);
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    barriers(node, view, table, heap);
    collectives(node, view, heap);
    meet();
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
}

/* A member is killed while the others wait for it. */
static void killed(void)
{
    const uint32_t another = (uint32_t)((me + 1) % ranks);
    uint32_t all[MOST_RANKS];
    onenode_t *node = opened((uint32_t)me);
    onenode_group_t *group = (onenode_group_t *)8, *other;
    introduce(node, plainly);
    for (int r = 0; r < ranks; r++)
        all[r] = (uint32_t)r;
    FAILS(onenode_group_open(node, 1, &another, 1, &group), ONENODE_EINVAL,
          "onenode_group_open: ranks = ");
    all[ranks] = 0;
    FAILS(onenode_group_open(node, 1, all, (uint32_t)ranks + 1, &group), ONENODE_EINVAL, "0 twice");
    FAILS(onenode_group_open(node, 1, NULL, 1, &group), ONENODE_EINVAL, "ranks = NULL");
    CHECK(group == (onenode_group_t *)8);
    WORKS(onenode_group_open(node, 1, all, (uint32_t)ranks, &group));
    WORKS(onenode_group_open(node, 2, all, (uint32_t)ranks, &other));
    WORKS(onenode_barrier(group, ONENODE_EVER));
    WORKS(onenode_barrier(other, ONENODE_EVER));
    if (me == LOST)
        raise(SIGKILL);
    FAILS(onenode_barrier(group, ONENODE_EVER), ONENODE_EDIED, "onenode_barrier: rank 1 has ended");
    FAILS(onenode_barrier(group, ONENODE_EVER), ONENODE_EDIED, "rank 1 has ended");
    WORKS(onenode_arrive(other));
    {
        int result;
        while ((result = onenode_arrived(other)) == 0)
            usleep(1000);
        CHECK(result == ONENODE_EDIED);
    }
    WORKS(onenode_group_close(other));
    WORKS(onenode_group_close(group));
    FAILS(onenode_group_close(NULL), ONENODE_EINVAL, "group = NULL");
    meet();
    WORKS(onenode_close(node));
}

/* One does not come. */
static void late(void)
{
    static const uint32_t both[] = { 0, 1 };
    onenode_t *node = opened((uint32_t)me);
    onenode_group_t *group;
    introduce(node, plainly);
    WORKS(onenode_group_open(node, 1, both, 2, &group));
    WORKS(onenode_barrier(group, ONENODE_EVER));
    if (me == 0)
        FAILS(onenode_barrier(group, 10000000), ONENODE_ETIME, "onenode_barrier: the time limit has passed");
    meet();
    WORKS(onenode_group_close(group));
    WORKS(onenode_close(node));
}

int main(void)
{
    static const int some[] = { 1, 2, 3, 8, 16 };
    for (int i = 0; i < 5; i++)
        run(some[i], 0, body);
    run(2, 1u << LOST, killed);
    run(5, 1u << LOST, killed);
    run(2, 0, late);
    return failures != 0;
}
