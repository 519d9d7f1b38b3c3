/* instructions: calls each routine of the data path many times, for callgrind to
 * count. What is subtracted is the same loop around a function that takes as many
 * arguments and does nothing; its one instruction, the return, is added again. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { CALLS = 1000 };
static long object[8], local[8];

#define NOTHING __attribute__((noipa)) static void
NOTHING none(void) { __asm__ volatile(""); }
NOTHING two(const void *a, int b) { __asm__ volatile("" : : "r"(a), "r"(b)); }
NOTHING three(const void *a, long b, int c) { __asm__ volatile("" : : "r"(a), "r"(b), "r"(c)); }
NOTHING three_pointers(const void *a, const void *b, int c)
{
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c));
}
NOTHING four(const void *a, const void *b, long c, int d)
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
    /* A routine and, after it, the loop to subtract from it. */
#define PAIR(NAME, CALL, NOTHING_CALL)                                                    \
    COUNT(NAME, CALL);                                                                    \
    COUNT(NAME "/loop", NOTHING_CALL)
    PAIR("memcpy", copy(local, local + 1, 8), three_pointers(local, local + 1, 8));
    PAIR("shmem_long_p", shmem_long_p(object, 1, peer), three(object, 1, peer));
    PAIR("shmem_long_g", shmem_long_g(object, peer), two(object, peer));
    PAIR("shmem_putmem", shmem_putmem(object, local, 8, peer), four(object, local, 8, peer));
    PAIR("shmem_long_atomic_fetch_add", shmem_long_atomic_fetch_add(object, 1, peer),
         three(object, 1, peer));
    PAIR("shmem_quiet", shmem_quiet(), none());
    PAIR("shmem_fence", shmem_fence(), none());
    PAIR("shmem_ptr", shmem_ptr(object, peer), two(object, peer));
    PAIR("shmem_ctx_long_p", shmem_ctx_long_p(ctx, object, 1, peer), four(ctx, object, 1, peer));
    PAIR("shmem_ctx_long_g", shmem_ctx_long_g(ctx, object, peer),
         three_pointers(ctx, object, peer));
    PAIR("shmem_ctx_long_atomic_fetch_add", shmem_ctx_long_atomic_fetch_add(ctx, object, 1, peer),
         four(ctx, object, 1, peer));
    shmem_barrier_all();
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
