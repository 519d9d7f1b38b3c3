/* Plain loops over elements of which every other one is used, in the target, in the source, or in both, as in
 * strided.c; the target is memory that another process shares. Once for any strides; once with the strides
 * known to the compiler, which may then do several elements at once; and once by vectors of 64 bytes of which every
 * other element is used. */
#define BENCH_RAW
#include "../bench.h"
#include "../shapes.h"

static unsigned char *in, *out;

#if defined(__x86_64__)
#define WIDE __attribute__((optimize("O3"), target("avx2")))
#else
#define WIDE __attribute__((optimize("O3")))
#endif

#if defined(__x86_64__)
#include <immintrin.h>

/* Two vectors' even elements in one; one vector's elements at the even places, and only these stored; even elements
 * loaded, and only these stored. */
#define VECTORS(T, bits, collect, spread)                                                               \
    __attribute__((optimize("O3"), target("avx512f"), weak, noinline)) void vectors_##T(T *d, const T *s, ptrdiff_t target, \
                                                                                    ptrdiff_t source)               \
    {                                                                                               \
        enum { LANES = 64 / sizeof(T) };                                                            \
        const unsigned even = 0x5555u & ((1u << LANES) - 1);                                        \
        for (ptrdiff_t i = 0; i < ELEMENTS; i += LANES) {                                           \
            if (target == 1)                                                                        \
                _mm512_storeu_si512(d + i, _mm512_permutex2var_epi##bits(_mm512_loadu_si512(s + 2 * i), collect, \
                                                                         _mm512_loadu_si512(s + 2 * i + LANES))); \
            for (int half = 0; target != 1 && half < 2; half++) {                                   \
                ptrdiff_t at = i + half * (LANES / 2);                                              \
                __m512i v = source == 1 ? _mm512_permutexvar_epi##bits(spread, _mm512_castsi256_si512(         \
                                                   _mm256_loadu_si256((const __m256i *)(s + at))))  \
                                        : _mm512_maskz_loadu_epi##bits(even, s + 2 * at);           \
                _mm512_mask_storeu_epi##bits(d + 2 * at, even, v);                                  \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
    static void vectored_##T(void *arg, long n)                                                     \
    {                                                                                               \
        const struct shape *s = arg;                                                                \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            vectors_##T((T *)in, (const T *)out, s->target, s->source);                             \
    }

VECTORS(uint32_t, 32, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
        _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0))
VECTORS(uint64_t, 64, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0))
#endif

/* Weak and not inlined, as a library's function is. */
#define LOOPS(T)                                                                                    \
    __attribute__((weak, noinline)) void any_##T(T *restrict d, const T *restrict s, ptrdiff_t target, ptrdiff_t source) \
    {                                                                                               \
        for (ptrdiff_t i = 0; i < ELEMENTS; i++)                                                    \
            d[i * target] = s[i * source];                                                          \
    }                                                                                               \
    WIDE __attribute__((weak, noinline)) void known_##T(T *restrict d, const T *restrict s, ptrdiff_t target, \
                                                        ptrdiff_t source)                           \
    {                                                                                               \
        if (target == 1)                                                                            \
            for (ptrdiff_t i = 0; i < ELEMENTS; i++)                                                \
                d[i] = s[i * STRIDE];                                                               \
        else if (source == 1)                                                                       \
            for (ptrdiff_t i = 0; i < ELEMENTS; i++)                                                \
                d[i * STRIDE] = s[i];                                                               \
        else                                                                                        \
            for (ptrdiff_t i = 0; i < ELEMENTS; i++)                                                \
                d[i * STRIDE] = s[i * STRIDE];                                                      \
    }                                                                                               \
    static void loop_##T(void *arg, long n)                                                         \
    {                                                                                               \
        const struct shape *s = arg;                                                                \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            any_##T((T *)in, (const T *)out, s->target, s->source);                                 \
    }                                                                                               \
    static void wide_##T(void *arg, long n)                                                         \
    {                                                                                               \
        const struct shape *s = arg;                                                                \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            known_##T((T *)in, (const T *)out, s->target, s->source);                               \
    }

LOOPS(uint32_t)
LOOPS(uint64_t)

enum needs { NOTHING, AVX2, AVX512 };

static const struct {
    const char *name;
    void (*op)(void *, long);
    size_t size;
    enum needs needs;
} tests[] = {
    {"any", loop_uint32_t, 4, NOTHING},       {"any", loop_uint64_t, 8, NOTHING},
    {"known", wide_uint32_t, 4, AVX2},        {"known", wide_uint64_t, 8, AVX2},
#if defined(__x86_64__)
    {"vectors", vectored_uint32_t, 4, AVX512}, {"vectors", vectored_uint64_t, 8, AVX512},
#endif
};

static int can(enum needs needs)
{
#if defined(__x86_64__)
    return needs == NOTHING || (needs == AVX2 ? __builtin_cpu_supports("avx2") : __builtin_cpu_supports("avx512f"));
#else
    return needs != AVX512;
#endif
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    in = raw_alloc(STRIDE * ELEMENTS * 8);
    out = aligned_alloc(4096, STRIDE * ELEMENTS * 8);
    bench_check(out != NULL, "no memory");
    bench_fill(out, STRIDE * ELEMENTS * 8, 1);
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            char name[64];
            struct shape shape = shapes[i];
            size_t size = tests[t].size;
            if (!can(tests[t].needs))
                continue;
            snprintf(name, sizeof name, "raw.strided.%s.%s", shape.name, tests[t].name);
            if (bench.pe == 0)
                memset(in, 0xff, STRIDE * ELEMENTS * 8);
            bench_barrier();
            bench_measure((struct bench_point){.name = name, .size = size, .op = tests[t].op, .arg = &shape,
                                               .unit = BENCH_MOPS, .weight = ELEMENTS});
            for (size_t k = 0; k < ELEMENTS; k++)
                bench_check(memcmp(in + k * (size_t)shape.target * size, out + k * (size_t)shape.source * size, size) == 0,
                            "%s: element %zu is wrong", name, k);
            bench_barrier();
        }
    bench_finish();
    return 0;
}
