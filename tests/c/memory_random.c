// pes: 1 2 4 7
/* Random sequences of heap calls, the same on every PE: blocks never overlap, keep
 * their contents, and lie at the same offsets everywhere. rule 3.1, rule 2.7 */
#include "check.h"

enum { SLOTS = 60, STEPS = 1500 };
static struct {
    unsigned char *at;
    size_t size;
    int key;
} slot[SLOTS];

static void verify(int s)
{
    for (size_t i = 0; i < slot[s].size; i += 1 + slot[s].size / 50)
        CHECK_EQ(slot[s].at[i], (unsigned char)(slot[s].key + (int)i));
}

static void fill(int s, int key)
{
    slot[s].key = key;
    for (size_t i = 0; i < slot[s].size; i++)
        slot[s].at[i] = (unsigned char)(key + (int)i);
    for (int o = 0; o < SLOTS; o++)
        CHECK(o == s || slot[o].at == NULL || slot[o].at + slot[o].size <= slot[s].at ||
              slot[s].at + slot[s].size <= slot[o].at);
}

int main(void)
{
    shmem_init();
    uint64_t seed = check_seed();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    for (int step = 0; step < STEPS; step++) {
        int s = (int)check_random(&seed, SLOTS);
        size_t size = 1 + check_random(&seed, (size_t)1 << check_random(&seed, 18));
        size_t alignment = (size_t)8 << check_random(&seed, 8);
        unsigned kind = (unsigned)check_random(&seed, 4);
        if (slot[s].at == NULL) {
            slot[s].at = kind == 0   ? shmem_malloc(size)
                         : kind == 1 ? shmem_calloc(1, size)
                         : kind == 2 ? shmem_align(alignment, size)
                                     : shmem_malloc_with_hints(size, 0);
            CHECK(slot[s].at != NULL);
            CHECK(kind != 2 || (uintptr_t)slot[s].at % alignment == 0);
            slot[s].size = size;
        } else if (kind == 0) {
            size_t kept = size < slot[s].size ? size : slot[s].size;
            verify(s);
            slot[s].at = shmem_realloc(slot[s].at, size);
            CHECK(slot[s].at != NULL);
            slot[s].size = kept;
            verify(s);
            slot[s].size = size;
        } else {
            verify(s);
            shmem_free(slot[s].at);
            slot[s].at = NULL;
            continue;
        }
        fill(s, step);
        shmem_barrier_all();
        /* The same block lies at the same place of the neighbour. */
        unsigned char first;
        shmem_getmem(&first, slot[s].at, 1, next);
        CHECK_EQ(first, (unsigned char)step);
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
