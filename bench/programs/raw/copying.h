/* The methods that are known to copy best at some size: memcpy, rep movsb, a loop of 32-byte moves, and stores
 * that pass the caches by. For the raw programs that find out which does where. */
#ifndef COPYING_H
#define COPYING_H

static void by_memcpy(void *dest, const void *source, size_t size) { memcpy(dest, source, size); }

#if defined(__x86_64__)
#include <immintrin.h>

static void by_rep_movsb(void *dest, const void *source, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(size)::"memory");
}

/* Sizes are multiples of 32, addresses aligned to that. */
__attribute__((target("avx"))) static void by_vector(void *dest, const void *source, size_t size)
{
    const __m256i *s = source;
    __m256i *d = dest;
    for (size_t i = 0; i < size / 32; i++)
        _mm256_store_si256(d + i, _mm256_load_si256(s + i));
}

__attribute__((target("avx"))) static void by_streaming(void *dest, const void *source, size_t size)
{
    const __m256i *s = source;
    __m256i *d = dest;
    for (size_t i = 0; i < size / 32; i++)
        _mm256_stream_si256(d + i, _mm256_load_si256(s + i));
    _mm_sfence();
}
#endif

static const struct copying {
    const char *name;
    void (*by)(void *, const void *, size_t);
    size_t least; /* smaller ones it is no good for */
    size_t multiple;
} copying[] = {
    {"memcpy", by_memcpy, 1, 1},
#if defined(__x86_64__)
    {"rep_movsb", by_rep_movsb, 64, 1},
    {"vector", by_vector, 32, 32},
    {"streaming", by_streaming, 1024, 32},
#endif
};

#define COPYINGS (sizeof copying / sizeof *copying)

/* Whether this processor can copy pieces of this size so. */
static inline int copying_can(const struct copying *c, size_t size)
{
#if defined(__x86_64__)
    if (c->multiple == 32 && !__builtin_cpu_supports("avx"))
        return 0;
#endif
    return size >= c->least && size % c->multiple == 0;
}

#endif
