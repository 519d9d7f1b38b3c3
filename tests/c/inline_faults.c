// pes: 2
// device: no
// variants: pie no-pie
// inline: no
// cflags: -O2 -DSHMEM_INLINE
/* What routines compiled in do about operands that are no good once the PE has been talked to: the library,
 * which looks at everything, is asked only about some of them. Here the variants are this file's own. */
// case: pointers pointers
#include "check.h"
#ifndef SHMEM_INLINE
#error "not compiled in"
#endif

static long data[8];
static const long constant = 1;

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
    FAILS("stack", "shmem_long_p dest symmetric") { no_good = &local; shmem_long_p(no_good, 1, to); }
    FAILS("malloc", "symmetric") { no_good = private; shmem_long_p(no_good, 1, to); }
    FAILS("null", "symmetric 0x0") { no_good = NULL; shmem_long_p(no_good, 1, to); }
    FAILS("null-get", "symmetric") { no_good = NULL; shmem_getmem(&local, no_good, 64 / 8, to); }
    FAILS("beyond-the-heap", "shmem_long_atomic_add dest") { no_good = block + ((size_t)1 << 43); shmem_long_atomic_add(no_good, 1, to); }
    FAILS("pe-negative", "shmem_long_g -1") { no_pe = -1; local = shmem_long_g(data, no_pe); }
    FAILS("pe-too-large", "shmem_long_put pe") { no_pe = npes; shmem_long_put(data, &local, 1, no_pe); }
    FAILS("finalized", "shmem_long_p") { shmem_finalize(); shmem_long_p(data, 1, to); }
    /* Of a pointer the library tells more than a message could. */
    no_good = &local;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_good = private;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_good = NULL;
    CHECK(shmem_ptr(no_good, to) == NULL);
    no_good = (long *)(uintptr_t)&constant;
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
