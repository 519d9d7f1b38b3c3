/* Plain loops over elements of which every other one is used, in the target, in the source, or in both, as in
 * strided.c; the target is memory that another process shares. Once for any strides, and once with the strides
 * known to the compiler, which may then do several elements at once. */
#define BENCH_RAW
#include "../bench.h"

#define ELEMENTS 1024
#define STRIDE 2

static unsigned char *in, *out;

struct shape {
    const char *name;
    ptrdiff_t target, source;
};

static const struct shape shapes[] = {{"to_strided", STRIDE, 1}, {"from_strided", 1, STRIDE}, {"both_strided", STRIDE, STRIDE}};

#if defined(__x86_64__)
#define WIDE __attribute__((optimize("O3"), target("avx2")))
#else
#define WIDE __attribute__((optimize("O3")))
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

static const struct {
    const char *name;
    void (*op)(void *, long);
    size_t size;
    int needs_avx2;
} tests[] = {{"any", loop_uint32_t, 4, 0}, {"any", loop_uint64_t, 8, 0},
             {"known", wide_uint32_t, 4, 1}, {"known", wide_uint64_t, 8, 1}};

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
#if defined(__x86_64__)
            if (tests[t].needs_avx2 && !__builtin_cpu_supports("avx2"))
                continue;
#endif
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
