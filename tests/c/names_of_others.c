// pes: 1 2
// inline: no
/* Names that programs written for Open MPI use: bitwise atomics of signed types, the specification's version.
 * And a tool's own static functions under the names of the library's, beside pshmem.h. */
#include <pshmem.h>
static void shmem_long_p(long *dest, long value, int pe) { pshmem_long_p(dest, value + 1, pe); }
static long wrapped;
static long put_by_own(int pe)
{
    shmem_long_p(&wrapped, 6, pe);
    pshmem_quiet();
    return pshmem_long_g(&wrapped, pe);
}
#define shmem_long_p shmem_library_long_p
#include "check.h"

#if OSHMEM_SPEC_VERSION < 10600
#  error "OpenSHMEM 1.6"
#endif

#define BITS(NAME, TYPE)                                                                  \
    {                                                                                     \
        static TYPE word;                                                                 \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_or(&word, -2, me), 0);                       \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_xor(&word, 6, me), -2);                      \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_and(&word, 12, me), -8);                     \
        shmem_##NAME##_atomic_or(&word, 3, me);                                           \
        shmem_ctx_##NAME##_atomic_xor(SHMEM_CTX_DEFAULT, &word, 1, me);                   \
        shmem_##NAME##_atomic_and(&word, 10, me);                                         \
        CHECK_EQ(shmem_ctx_##NAME##_atomic_fetch_or(SHMEM_CTX_DEFAULT, &word, 0, me), 10); \
    }

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    BITS(int, int)
    BITS(long, long)
    BITS(longlong, long long)
    CHECK_EQ(put_by_own(me), 7);
    shmem_finalize();
    return 0;
}
