/* Memory of unequal sizes that some of the ranks allocate, as windows of MPI have it, and UPC and Global Arrays: ranks tell
 * each other where theirs is, as such runtimes do anyway, and need neither equal keys nor views. */
#include "job.h"

enum { ROUNDS = 20 };

/* What a rank tells: where its part begins there, and how long it is. */
struct part { uintptr_t start, bytes; };

/* Not equal, and 0 for some. */
static uintptr_t bytes_of(int r, int round)
{
    return (uintptr_t)((r + round) % 3) * 40000 + (uintptr_t)(r % 2) * 24;
}

/* Enters a rank in a table of the client's own. */
static void enter(onenode_table *table, int r, struct part part, void *here)
{
    uintptr_t *bytes = (uintptr_t *)(table + 1), *base = bytes + table->capacity, *start = base + table->capacity;
    base[r] = (uintptr_t)here;
    start[r] = part.start;
    __atomic_store_n(&bytes[r], part.bytes, __ATOMIC_RELEASE);
}

/* One allocation of the ranks whose number leaves the same remainder as the own one. */
static void allocate(onenode_t *node, int subsets, int round)
{
    struct part own = { 0, bytes_of(me, round) }, all[MOST_RANKS];
    onenode_mapping_t *mappings[MOST_RANKS], *none;
    onenode_table *table = table_for((size_t)ranks);
    uint64_t key = 0;
    long *mine = NULL;

    if (own.bytes != 0) {
        mine = (long *)region(node, ONENODE_ANY_KEY, ONENODE_ALLOC, NULL, own.bytes);
        WORKS(onenode_region_of(node, mine, &key, NULL, NULL));
        own.start = (uintptr_t)mine;
        mine[0] = 1000 * round + me;
    }
    exchange(&own, sizeof own, all);
    for (int r = 0; r < ranks; r++) {
        void *here = NULL;
        mappings[r] = NULL;
        if (r % subsets != me % subsets || all[r].bytes == 0)
            continue;
        WORKS(onenode_map(node, (uint32_t)r, all[r].start, all[r].bytes, &here, &mappings[r]));
        enter(table, r, all[r], here);
        /* No further than the pages of the rank's region. */
        FAILS(onenode_map(node, (uint32_t)r, all[r].start, all[r].bytes + 4096, &here, &none),
              ONENODE_ENOMAP, "no region of");
    }
    for (int r = 0; r < ranks; r++) {
        long *there = (long *)onenode_there(table, (void *)all[r].start, (size_t)r);
        CHECK((there != NULL) == (r % subsets == me % subsets && all[r].bytes != 0));
        CHECK(onenode_there(table, (void *)(all[r].start + all[r].bytes), (size_t)r) == NULL);
        if (there == NULL)
            continue;
        CHECK(there[0] == 1000 * round + r);
        /* The last word is at another displacement at each rank, past the own end for some. */
        there = (long *)onenode_there(table, (void *)(all[r].start + all[r].bytes - 8), (size_t)r);
        __atomic_fetch_add(there, 1, __ATOMIC_RELAXED);
    }
    meet();
    CHECK(mine == NULL || mine[own.bytes / 8 - 1] == (ranks - me % subsets + subsets - 1) / subsets);
    for (int r = 0; r < ranks; r++)
        if (mappings[r] != NULL)
            WORKS(onenode_unmap(mappings[r]));
    meet();
    if (mine != NULL)
        WORKS(onenode_unregion(node, key));
    free(table);
}

static void body(void)
{
    onenode_t *node = opened((uint32_t)me);
    introduce(node, plainly);
    /* The library's keys are not alike on the ranks. */
    for (int i = 0; i < me; i++)
        region(node, ONENODE_ANY_KEY, ONENODE_ALLOC, NULL, 4096);
    for (int round = 0; round < ROUNDS; round++)
        allocate(node, 1 + round % 3, round);
    meet();
    WORKS(onenode_close(node));
}

int main(void)
{
    for (int n = 1; n <= 6; n++)
        run(n, 0, body);
    return failures != 0;
}
