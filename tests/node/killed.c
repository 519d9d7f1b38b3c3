/* A rank is killed while others wait for it, or have it attached: they learn it within the time that
 * looks take, its memory stays readable, and a new process takes its rank. */
#include "job.h"

enum { HEAP = 1, LATE = 2, LOST = 1 };

static void body(void)
{
    static const uint64_t heap_key = HEAP, late_key = LATE;
    onenode_table *table = table_for((size_t)ranks), *late_table = table_for((size_t)ranks);
    onenode_t *node = opened((uint32_t)me);
    onenode_view_t *view, *late;
    long *heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 1 << 20), *there;
    char text[512];

    heap[9] = 900 + me;
    introduce(node, plainly);
    WORKS(onenode_view_open(node, &heap_key, 1, table, &view));
    there = (long *)ONENODE_AT(table, view, &heap[9], LOST);
    CHECK(there != NULL && *there == 900 + LOST);
    meet();
    if (me == LOST)
        raise(SIGKILL);

    /* It never has this one. */
    region(node, LATE, ONENODE_ALLOC, NULL, 4096);
    WORKS(onenode_view_open(node, &late_key, 1, late_table, &late));
    FAILS(onenode_attach(node, LOST, ONENODE_EVER), ONENODE_EDIED,
          "onenode_attach: rank 1 has ended without closing its node");
    CHECK(onenode_state(node, LOST) == ONENODE_DEAD);
    /* Over XPMEM it goes with its owner. */
    CHECK(is_lent(node) || *there == 900 + LOST);
    for (int r = 0; r < ranks; r++)
        if (r != LOST)
            WORKS(onenode_attach(node, (uint32_t)r, ONENODE_EVER));

    /* What a fault would mean. */
    CHECK(onenode_explain(node, there, text, sizeof text) == strlen(text));
    CHECK(strstr(text, "of rank 1, in its region 0x1") != NULL);
    CHECK(onenode_explain(node, there, text, 8) == 7 && strcmp(text, "fault a") == 0);
    CHECK(onenode_explain(node, text, text, sizeof text) == 0);
    CHECK(onenode_explain(node, there, NULL, 0) == 0);

    WORKS(onenode_detach(node, LOST));
    CHECK(onenode_at(table, &heap[9], LOST) == NULL);
    CHECK(onenode_state(node, LOST) == ONENODE_UNKNOWN);
    meet();
    WORKS(onenode_view_close(late));
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
    free(late_table);
}

/* Nobody has attached it when it dies: attaching says so. */
static void before_attach(void)
{
    onenode_t *node = opened((uint32_t)me);
    introduce(node, plainly);
    meet();
    if (me == LOST)
        raise(SIGKILL);
    meet();
    FAILS(onenode_attach(node, LOST, ONENODE_EVER), ONENODE_EDIED, "rank 1 has ended");
    CHECK(onenode_extra(node, LOST) == NULL);
    WORKS(onenode_close(node));
}

int main(void)
{
    run(2, 1u << LOST, body);
    run(5, 1u << LOST, body);
    run(3, 1u << LOST, before_attach);
    return failures != 0;
}
