// pes: 2
// device: no
// variants: pie no-pie
// inline: no
// cflags: -O2 -DSHMEM_INLINE
/* What routines compiled in do about operands that are no good once the PE has been talked to: the library,
 * which looks at everything, is asked only about some of them. Here the variants are this file's own. */
// case: stack stack | status=nonzero stderr=shmem_long_p stderr=dest stderr=symmetric
// case: malloc malloc | status=nonzero stderr=symmetric
// case: null null | status=nonzero stderr=symmetric stderr=0x0
// case: null-get null-get | status=nonzero stderr=symmetric
// case: beyond-the-heap beyond-the-heap | status=nonzero stderr=shmem_long_atomic_add stderr=dest
// case: pe-negative pe-negative | status=nonzero stderr=shmem_long_g stderr=-1
// case: pe-too-large pe-too-large | status=nonzero stderr=shmem_long_put stderr=pe
// case: finalized finalized | status=nonzero stderr=shmem_long_p
// case: pointers pointers
#include "check.h"
#ifndef SHMEM_INLINE
#error "not compiled in"
#endif

static long data[8];

/* What the compiler knows nothing about. */
static long *volatile no_good;
static volatile int no_pe;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    shmem_init();
    int npes = shmem_n_pes(), to = (shmem_my_pe() + 1) % npes;
    long local = 1, *block = shmem_malloc(64), *private = malloc(64);
    shmem_long_p(data, 1, to);
    shmem_long_p(block, 1, to);
    CHECK_EQ(shmem_long_g(data, to), 1);
    shmem_barrier_all();
#define IS(name) (strcmp(argv[1], name) == 0)
    if (IS("stack")) { no_good = &local; shmem_long_p(no_good, 1, to); }
    if (IS("malloc")) { no_good = private; shmem_long_p(no_good, 1, to); }
    if (IS("null")) { no_good = NULL; shmem_long_p(no_good, 1, to); }
    if (IS("null-get")) { no_good = NULL; shmem_getmem(&local, no_good, 64 / 8, to); }
    if (IS("beyond-the-heap")) { no_good = block + ((size_t)1 << 43); shmem_long_atomic_add(no_good, 1, to); }
    if (IS("pe-negative")) { no_pe = -1; local = shmem_long_g(data, no_pe); }
    if (IS("pe-too-large")) { no_pe = npes; shmem_long_put(data, &local, 1, no_pe); }
    if (IS("finalized")) { shmem_finalize(); shmem_long_p(data, 1, to); }
    /* Of a pointer the library tells more than a message could. */
    no_good = &local;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_good = private;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_good = NULL;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_pe = npes;
    CHECK(shmem_ptr(data, no_pe) == NULL);
    no_pe = -1;
    CHECK(shmem_ptr(data, no_pe) == NULL);
    long *block_there = shmem_ptr(block, to);
    CHECK(block_there != NULL && *block_there == 1);
    shmem_finalize();
    return 0;
}
