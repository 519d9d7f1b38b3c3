/* What a runtime has, and what it wants the name of: a card's rank, an address's region; and keys that the
 * library chooses. */
#include "job.h"

enum { BYTES = 8192 };

static const uint64_t FIRST = UINT64_C(1) << 63;

/* Ranks of cards, with ranks of the runtime's choice and without. */
static void cards(void)
{
    uint32_t own = me % 2 == 0 ? (uint32_t)me * 10 : ONENODE_NO_RANKS, found, given;
    onenode_t *node = opened(own), *second = opened(5);
    onenode_card card, other, all[MOST_RANKS], bad;

    WORKS(onenode_get_card(node, &card));
    WORKS(onenode_get_card(second, &other));
    exchange(&card, sizeof card, all);
    if (own != ONENODE_NO_RANKS) {
        WORKS(onenode_rank_of(node, &card, &found));
        CHECK(found == own);
    } else {
        FAILS(onenode_rank_of(node, &card, &found), ONENODE_ENOCARD, "onenode_rank_of: the card is that of no known rank");
    }
    /* Of another node of this process. */
    FAILS(onenode_rank_of(node, &other, &found), ONENODE_ENOCARD, "it has not been given");
    for (int r = 0; r < ranks; r++) {
        if (r == me)
            continue;
        found = 77;
        FAILS(onenode_rank_of(node, &all[r], &found), ONENODE_ENOCARD, "no known rank");
        CHECK(found == 77 && onenode_state(node, (uint32_t)r * 10) != ONENODE_HERE);
        given = own == ONENODE_NO_RANKS ? ONENODE_NO_RANKS : (uint32_t)r * 10;
        WORKS(onenode_know(node, &given, &all[r]));
        WORKS(onenode_rank_of(node, &all[r], &found));
        CHECK(found == given);
    }
    FAILS(onenode_rank_of(NULL, &card, &found), ONENODE_EINVAL, "onenode_rank_of: node = NULL");
    FAILS(onenode_rank_of(node, NULL, &found), ONENODE_EINVAL, "card = NULL");
    FAILS(onenode_rank_of(node, &card, NULL), ONENODE_EINVAL, "rank = NULL");
    memset(&bad, 0, sizeof bad);
    FAILS(onenode_rank_of(node, &bad, &found), ONENODE_EINVAL, "expected one that onenode has made");
    bad = card, bad.word[0] += UINT64_C(1) << 32;
    FAILS(onenode_rank_of(node, &bad, &found), ONENODE_EVERSION,
          "the card is of version 2.0, this library's is 1.0");
    meet();
    WORKS(onenode_close(second));
    WORKS(onenode_close(node));
}

static uint64_t key_of(onenode_t *node, const void *own, void *start, uint64_t bytes)
{
    uint64_t key = 0, has = 0;
    void *begins = NULL;
    WORKS(onenode_region_of(node, own, &key, &begins, &has));
    CHECK(begins == start && has == bytes);
    return key;
}

/* Keys of the library among keys of the client; the same on all ranks, and a view of them. */
static void keys(void)
{
    onenode_table *table = table_for((size_t)ranks);
    onenode_t *node = opened((uint32_t)me);
    onenode_view_t *view;
    uint64_t chosen[3], all[MOST_RANKS][3];
    char *a, *b, *c, *own, *last;

    introduce(node, plainly);
    /* Another distance on each rank. */
    own = (char *)region(node, 3, ONENODE_ALLOC, NULL, (uint64_t)(me + 1) * BYTES);
    a = (char *)region(node, ONENODE_ANY_KEY, ONENODE_ALLOC, NULL, BYTES);
    /* In the library's way; one that fails takes none. */
    region(node, FIRST + 1, ONENODE_ALLOC, NULL, BYTES);
    {
        onenode_memory none;
        memset(&none, 0, sizeof none);
        none.size = sizeof none;
        none.source = ONENODE_ALLOC;
        FAILS(onenode_region(node, ONENODE_ANY_KEY, &none, NULL, NULL), ONENODE_EINVAL, "bytes = 0");
    }
    b = (char *)region(node, ONENODE_ANY_KEY, ONENODE_ALLOC, NULL, BYTES);
    chosen[0] = key_of(node, a + BYTES - 1, a, BYTES);
    chosen[1] = key_of(node, b, b, BYTES);
    CHECK(chosen[0] == FIRST && chosen[1] == FIRST + 2);
    /* A key that was given back is not the next region's. */
    WORKS(onenode_unregion(node, chosen[1]));
    b = (char *)region(node, ONENODE_ANY_KEY, ONENODE_ALLOC, NULL, BYTES);
    chosen[1] = key_of(node, b, b, BYTES);
    CHECK(chosen[1] == FIRST + 3);
    c = (char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    region(node, ONENODE_ANY_KEY, ONENODE_ADOPT, c, BYTES);
    chosen[2] = key_of(node, c + 7, c, BYTES);
    exchange(chosen, sizeof chosen, all);
    for (int r = 0; r < ranks; r++)
        CHECK(memcmp(chosen, all[r], sizeof chosen) == 0);
    a[0] = (char)('a' + me);
    c[BYTES - 1] = (char)('A' + me);
    CHECK(key_of(node, own, own, (uint64_t)(me + 1) * BYTES) == 3);
    meet();
    {
        uint64_t two[2];
        two[0] = chosen[0], two[1] = chosen[2];
        WORKS(onenode_view_open(node, two, 1, table, &view));
        for (int r = 0; r < ranks; r++) {
            char *there = (char *)ONENODE_AT(table, view, a, (size_t)r);
            CHECK(there != NULL && there[0] == 'a' + r);
        }
        WORKS(onenode_view_close(view));
        WORKS(onenode_view_open(node, &two[1], 1, table, &view));
        for (int r = 0; r < ranks; r++) {
            char *there = (char *)ONENODE_AT(table, view, c, (size_t)r);
            CHECK(there != NULL && there[BYTES - 1] == 'A' + r);
        }
        WORKS(onenode_view_close(view));
    }
    /* What is no region, or is none any more. */
    last = a + BYTES;
    FAILS(onenode_region_of(node, last, NULL, NULL, NULL), ONENODE_ENOMAP,
          "onenode_region_of: no region of this node has all of 0x");
    FAILS(onenode_region_of(node, NULL, NULL, NULL, NULL), ONENODE_ENOMAP, "of 0x0 (+ 1 bytes)");
    FAILS(onenode_region_of(node, &last, NULL, NULL, NULL), ONENODE_ENOMAP, "no region of this node");
    FAILS(onenode_region_of(NULL, a, NULL, NULL, NULL), ONENODE_EINVAL, "node = NULL");
    FAILS(onenode_unregion(node, ONENODE_ANY_KEY), ONENODE_EINVAL, "key = 0xffffffffffffffff");
    WORKS(onenode_region_of(node, a, NULL, NULL, NULL));
    meet();
    WORKS(onenode_unregion(node, chosen[2]));
    FAILS(onenode_region_of(node, c, NULL, NULL, NULL), ONENODE_ENOMAP, "no region of this node");
    WORKS(onenode_close(node));
    munmap(c, BYTES);
    free(table);
}

int main(void)
{
    run(1, 0, cards);
    run(4, 0, cards);
    run(1, 0, keys);
    run(3, 0, keys);
    return failures != 0;
}
