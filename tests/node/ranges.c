/* Ranges of a peer's memory by the peer's own addresses, as runtimes use them that send addresses. These
 * processes have no ranks: each numbers the others as it gets their cards. */
#include "job.h"

enum { HEAP = 5, BYTES = 5 << 20, PIECE = 2 << 20 };

static void body(void)
{
    onenode_t *node = opened(ONENODE_NO_RANKS);
    onenode_mapping_t *mapping = NULL, *again = NULL, *all_of_it = NULL;
    unsigned char *heap = (unsigned char *)region(node, HEAP, ONENODE_ALLOC, NULL, BYTES), *there, *same;
    struct { onenode_card card; uint64_t heap, local; } own, all[MOST_RANKS];
    uint32_t number[MOST_RANKS];
    unsigned char local[64];

    memset(heap, me + 1, BYTES);
    WORKS(onenode_get_card(node, &own.card));
    own.heap = (uintptr_t)heap;
    own.local = (uintptr_t)local;
    exchange(&own, sizeof own, all);
    for (int i = 0; i < ranks; i++) {
        int r = (me + 1 + i) % ranks; /* another order in each */
        number[r] = ONENODE_NO_RANKS;
        if (r == me)
            continue;
        WORKS(onenode_know(node, &number[r], &all[r].card));
        CHECK(number[r] == (uint32_t)i);
    }
    for (int r = 0; r < ranks; r++) {
        static const uint64_t starts[] = { 0, 1, 4095, 4096, PIECE - 1, PIECE, 2 * PIECE - 7, BYTES - 9 };
        static const uint64_t sizes[] = { 1, 8, 4096, PIECE, BYTES };
        if (r == me)
            continue;
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 5; j++) {
                uint64_t at = all[r].heap + starts[i];
                if (starts[i] + sizes[j] > BYTES) {
                    FAILS(onenode_map(node, number[r], at, sizes[j], (void **)&there, &mapping),
                          ONENODE_ENOMAP, "onenode_map: no region of rank ");
                    continue;
                }
                WORKS(onenode_map(node, number[r], at, sizes[j], (void **)&there, &mapping));
                CHECK(there[0] == r + 1 && there[sizes[j] - 1] == r + 1);
                WORKS(onenode_map(node, number[r], at, sizes[j], (void **)&same, &again));
                CHECK(same == there);
                WORKS(onenode_unmap(mapping));
                CHECK(same[sizes[j] - 1] == r + 1);
                WORKS(onenode_unmap(again));
            }
        WORKS(onenode_map(node, number[r], all[r].heap, BYTES, (void **)&there, &all_of_it));
        there[100 + me] = 200;
        meet();
        WORKS(onenode_unmap(all_of_it));
        FAILS(onenode_map(node, number[r], all[r].local, 8, (void **)&there, &mapping), ONENODE_ENOMAP,
              "(+ 8 bytes)");
        FAILS(onenode_map(node, number[r], all[r].heap - 1, 8, (void **)&there, &mapping), ONENODE_ENOMAP,
              "no region");
        FAILS(onenode_map(node, number[r], all[r].heap, 0, (void **)&there, &mapping), ONENODE_EINVAL,
              "onenode_map: bytes = 0");
        FAILS(onenode_map(node, number[r], UINT64_MAX, 8, (void **)&there, &mapping), ONENODE_EINVAL,
              "bytes = 8");
        FAILS(onenode_map(node, number[r], all[r].heap, 8, NULL, &mapping), ONENODE_EINVAL, "there = NULL");
        FAILS(onenode_map(node, number[r], all[r].heap, 8, (void **)&there, NULL), ONENODE_EINVAL,
              "mapping = NULL");
    }
    FAILS(onenode_map(node, 77, own.heap, 8, (void **)&there, &mapping), ONENODE_ENOCARD, "rank 77");
    FAILS(onenode_unmap(NULL), ONENODE_EINVAL, "onenode_unmap: mapping = NULL");
    meet();
    for (int r = 0; r < ranks; r++)
        CHECK(heap[100 + r] == (r == me ? me + 1 : 200));
    WORKS(onenode_close(node));
}

int main(void)
{
    run(1, 0, body);
    run(2, 0, body);
    run(4, 0, body);
    return failures != 0;
}
