// pes: 1 2 3 4 7 8
/* The symmetric heap: each routine, its results and what it leaves. */
#include "check.h"
#include <stdalign.h>

static int me, npes, to, from;

static void fill(unsigned char *block, size_t n, int key)
{
    for (size_t i = 0; i < n; i++)
        block[i] = (unsigned char)(key + (int)i * 7);
}

static void holds(const unsigned char *block, size_t n, int key)
{
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(block[i], (unsigned char)(key + (int)i * 7));
}

/* rule 3.9, rule 3.10, rule 0.9: usable by others as soon as the local call returns */
static void usable(unsigned char *block, size_t n)
{
    unsigned char *out = malloc(n);
    fill(out, n, me);
    shmem_barrier_all(); /* nobody looks at the block any longer */
    shmem_putmem(block, out, n, to);
    shmem_barrier_all();
    holds(block, n, from);
    shmem_barrier_all();
    free(out);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    to = (me + 1) % npes;
    from = (me + npes - 1) % npes;

    /* rule 3.2: size 0 is null, and no barrier: only PE 0 calls */
    if (me == 0) {
        CHECK(shmem_malloc(0) == NULL);
        CHECK(shmem_calloc(0, 8) == NULL);
        CHECK(shmem_calloc(8, 0) == NULL);
        CHECK(shmem_align(64, 0) == NULL);
        CHECK(shmem_malloc_with_hints(0, 0) == NULL);
        shmem_free(NULL); /* rule 3.4 */
    }

    /* rule 3.7: aligned for any object; sizes small and large */
    for (size_t size = 1; size < 3000000; size = size * 3 + 1) {
        unsigned char *a = shmem_malloc(size), *b = shmem_malloc(size);
        CHECK(a != NULL && b != NULL && a != b);
        CHECK_EQ((uintptr_t)a % alignof(max_align_t), 0);
        CHECK(a + size <= b || b + size <= a);
        usable(a, size);
        usable(b, size);
        shmem_free(a);
        shmem_free(b);
    }

    /* rule 3.7: calloc clears memory that was in use, on every PE before it returns */
    for (int round = 0; round < 3; round++) {
        unsigned char *dirty = shmem_malloc(10000);
        memset(dirty, 0xff, 10000);
        shmem_free(dirty);
        unsigned char *clean = shmem_calloc(100, 100);
        unsigned char there[10000];
        shmem_getmem(there, clean, sizeof there, to);
        for (size_t i = 0; i < sizeof there; i++) {
            CHECK_EQ(clean[i], 0);
            CHECK_EQ(there[i], 0);
        }
        shmem_free(clean);
    }
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL); /* no overflow to something small */

    /* rule 3.6 */
    for (size_t alignment = sizeof(void *); alignment <= 1 << 16; alignment *= 2) {
        unsigned char *a = shmem_align(alignment, 100);
        CHECK(a != NULL);
        CHECK_EQ((uintptr_t)a % alignment, 0);
        usable(a, 100);
        shmem_free(a);
    }

    /* rule 3.5: grows and shrinks with its contents, null is malloc, 0 is free */
    unsigned char *r = shmem_realloc(NULL, 500);
    CHECK(r != NULL);
    fill(r, 500, me);
    void *fence_block = shmem_malloc(64); /* in the way of growing in place */
    r = shmem_realloc(r, 100000);
    CHECK(r != NULL);
    holds(r, 500, me);
    usable(r, 100000);
    fill(r, 100, me);
    r = shmem_realloc(r, 100);
    holds(r, 100, me);
    CHECK(shmem_realloc(r, (size_t)1 << 60) == NULL); /* the old block stays */
    holds(r, 100, me);
    usable(r, 100);
    CHECK(shmem_realloc(r, 0) == NULL);
    shmem_free(fence_block);

    /* rule 3.8: hints change nothing that can be seen; rule 3.5: nor does realloc of such a block */
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (int h = 0; h < 4; h++) {
        unsigned char *a = shmem_malloc_with_hints(256, hints[h]);
        CHECK(a != NULL);
        usable(a, 256);
        fill(a, 256, me);
        a = shmem_realloc(a, 512);
        CHECK(a != NULL);
        holds(a, 256, me);
        shmem_free(a);
    }

    /* rule 3.2: a barrier on exit: what came before on other PEs has happened */
    static long before;
    for (long round = 1; round <= 20; round++) {
        shmem_long_p(&before, round, to);
        void *a = round % 2 ? shmem_malloc(32) : shmem_align(32, 32);
        CHECK_EQ(before, round);
        shmem_barrier_all();
        /* rule 3.4: and on entry to free: puts into the block still arrive in it */
        shmem_long_p(&before, -round, to);
        shmem_free(a);
        CHECK_EQ(before, -round);
        shmem_barrier_all();
    }

    /* rule 3.11: the old names */
    unsigned char *old = shmalloc(100);
    CHECK(old != NULL);
    old = shrealloc(old, 200);
    CHECK(old != NULL);
    usable(old, 200);
    shfree(old);
    old = shmemalign(256, 10);
    CHECK_EQ((uintptr_t)old % 256, 0);
    shfree(old);
    shmem_finalize();
    return 0;
}
