/* instructions: calls each routine of the data path many times, for callgrind to
 * count. The same loop around a function that does nothing is what is subtracted,
 * and that function's one instruction, its return, is added again. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { CALLS = 1000 };
static long object[8], local[8];

__attribute__((noinline, noclone)) static void nothing(const void *a, long b, long c, int d)
{
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
}

#define COUNT(NAME, CALL)                                                                 \
    do {                                                                                  \
        CALL; /* once before: binding and attaching are not part of a call */             \
        CALLGRIND_ZERO_STATS;                                                             \
        for (int i = 0; i < CALLS; i++) {                                                 \
            CALL;                                                                         \
            __asm__ volatile("" : : : "memory");                                          \
        }                                                                                 \
        CALLGRIND_DUMP_STATS_AT(NAME);                                                    \
    } while (0)

int main(void)
{
    shmem_init();
    int peer = 1 - shmem_my_pe();
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) != 0)
        return 1;
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    shmem_barrier_all();
    COUNT("nothing", nothing(object, 1, 1, peer));
    COUNT("memcpy", copy(local, local + 1, 8));
    COUNT("shmem_long_p", shmem_long_p(object, 1, peer));
    COUNT("shmem_long_g", shmem_long_g(object, peer));
    COUNT("shmem_putmem", shmem_putmem(object, local, 8, peer));
    COUNT("shmem_long_atomic_fetch_add", shmem_long_atomic_fetch_add(object, 1, peer));
    COUNT("shmem_quiet", shmem_quiet());
    COUNT("shmem_fence", shmem_fence());
    COUNT("shmem_ptr", shmem_ptr(object, peer));
    COUNT("shmem_ctx_long_p", shmem_ctx_long_p(ctx, object, 1, peer));
    COUNT("shmem_ctx_long_g", shmem_ctx_long_g(ctx, object, peer));
    COUNT("shmem_ctx_long_atomic_fetch_add", shmem_ctx_long_atomic_fetch_add(ctx, object, 1, peer));
    shmem_barrier_all();
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
