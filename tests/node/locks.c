/* Locks of a group, and waits for a word. */
#include "job.h"

enum { HEAP = 1, LOCK = 0, COUNT = 8, FLAG = 16, LOST = 1, ROUNDS = 200 };

static void body(void)
{
    static const uint64_t key = HEAP;
    uint32_t all[MOST_RANKS];
    onenode_table *table = table_for((size_t)ranks);
    onenode_t *node = opened((uint32_t)me);
    onenode_group_t *group;
    onenode_view_t *view;
    uint64_t *heap = (uint64_t *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096), *count;

    for (int r = 0; r < ranks; r++)
        all[r] = (uint32_t)r;
    introduce(node, plainly);
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    WORKS(onenode_group_open(node, 1, all, (uint32_t)ranks, &group));
    count = (uint64_t *)ONENODE_AT(table, view, &heap[COUNT], 0);
    for (int i = 0; i < ROUNDS; i++) {
        WORKS(onenode_lock(group, &heap[LOCK], view, i % 2 ? ONENODE_EVER : 60000000000));
        /* Not one atomic operation: only the lock keeps it whole. */
        __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        WORKS(onenode_unlock(group, &heap[LOCK], view));
    }
    meet();
    CHECK(*count == (uint64_t)ROUNDS * (uint64_t)ranks);
    FAILS(onenode_unlock(group, &heap[LOCK], view), ONENODE_EINVAL, "a lock that this process holds");
    FAILS(onenode_lock(group, (char *)heap + 4, view, 0), ONENODE_EINVAL, "a multiple of 8");
    FAILS(onenode_lock(group, &all, view, 0), ONENODE_ENOMAP, "onenode_lock: ");
    FAILS(onenode_lock(NULL, heap, view, 0), ONENODE_EINVAL, "group = NULL");
    meet();

    /* A token goes round. */
    for (uint64_t round = 1; round <= 20; round++) {
        uint32_t before = (uint32_t)((me + ranks - 1) % ranks);
        uint64_t *next = (uint64_t *)ONENODE_AT(table, view, &heap[FLAG], (size_t)((me + 1) % ranks));
        if (me != 0)
            WORKS(onenode_wait(node, &heap[FLAG], ONENODE_GE, round, before, ONENODE_EVER));
        __atomic_store_n(next, round, __ATOMIC_RELEASE);
        if (me == 0)
            WORKS(onenode_wait(node, &heap[FLAG], ONENODE_EQ, round, before, ONENODE_EVER));
    }
    FAILS(onenode_wait(node, &heap[FLAG], ONENODE_LT, 1, ONENODE_NO_RANKS, 1000000), ONENODE_ETIME,
          "onenode_wait: the time limit has passed");
    FAILS(onenode_wait(node, &heap[FLAG], 7, 1, ONENODE_NO_RANKS, 0), ONENODE_EINVAL, "cmp = 7");
    FAILS(onenode_wait(node, NULL, ONENODE_EQ, 1, ONENODE_NO_RANKS, 0), ONENODE_EINVAL, "own = ");

    /* The owner of the lock dies, for which others wait in both ways. */
    if (ranks > 1) {
        meet();
        if (me == LOST)
            WORKS(onenode_lock(group, &heap[LOCK], view, ONENODE_EVER));
        for (int r = 0; r < ranks; r++)
            CHECK(ONENODE_AT(table, view, heap, (size_t)r) != NULL);
        meet();
        if (me == LOST)
            raise(SIGKILL);
        FAILS(onenode_lock(group, &heap[LOCK], view, ONENODE_EVER), ONENODE_EDIED,
              "onenode_lock: rank 1 has ended");
        FAILS(onenode_wait(node, &heap[FLAG], ONENODE_EQ, 0, LOST, ONENODE_EVER), ONENODE_EDIED,
              "onenode_wait: rank 1 has ended");
    }
    WORKS(onenode_group_close(group));
    WORKS(onenode_view_close(view));
    meet();
    WORKS(onenode_close(node));
    free(table);
}

int main(void)
{
    static const int some[] = { 1, 2, 3, 8 };
    for (int i = 0; i < 4; i++)
        run(some[i], some[i] > 1 ? 1u << LOST : 0, body);
    return failures != 0;
}
