/* Copies into memory that another process shares, by every method known to be the
 * best one for some size: memcpy, rep movsb, a loop of 32-byte moves, and stores that pass
 * the caches by. One process copying, and two at once. The best of them is the limit of put and get. */
#define BENCH_RAW
#include "../bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX __attribute__((target("avx")))

static void rep_movsb(void *dest, const void *source, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(size)::"memory");
}

/* Sizes are multiples of 32, addresses aligned to a page. */
AVX static void vector(void *dest, const void *source, size_t size)
{
    const __m256i *s = source;
    __m256i *d = dest;
    for (size_t i = 0; i < size / 32; i++)
        _mm256_store_si256(d + i, _mm256_load_si256(s + i));
}

AVX static void streaming(void *dest, const void *source, size_t size)
{
    const __m256i *s = source;
    __m256i *d = dest;
    for (size_t i = 0; i < size / 32; i++)
        _mm256_stream_si256(d + i, _mm256_load_si256(s + i));
    _mm_sfence();
}
#endif

static void by_memcpy(void *dest, const void *source, size_t size) { memcpy(dest, source, size); }

struct copy {
    void (*by)(void *, const void *, size_t);
    unsigned char *in, *out;
    size_t size;
    long transfers;
    int workers;
};

static void copy(void *arg, long n)
{
    struct copy *c = arg;
    if (bench.pe >= c->workers)
        return;
    for (; n > 0; n--) {
        for (long i = 0; i < c->transfers; i++)
            c->by(c->in + (size_t)i * c->size, c->out + (size_t)i * c->size, c->size);
        __asm__ volatile("" ::: "memory");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*by)(void *, const void *, size_t);
        size_t least;
    } methods[] = {
        {"memcpy", by_memcpy, 8},
#if defined(__x86_64__)
        {"rep_movsb", rep_movsb, 64},
        {"vector", vector, 32},
        {"streaming", streaming, 1024},
#endif
    };
    bench_start(argc, argv);
    size_t room = bench.max > 65536 ? bench.max : 65536;
    unsigned char *boxes = raw_alloc(2 * room);
    struct copy c = {.in = boxes + (size_t)((bench.pe + 1) % 2) * room, .out = aligned_alloc(4096, (room + 4095) & ~(size_t)4095)};
    bench_check(c.out != NULL, "no memory");
    bench_fill(c.out, room, (unsigned)bench.pe);
    /* The owner of a box has touched it before anybody copies into it. */
    if (bench.pe < 2)
        memset(boxes + (size_t)bench.pe * room, 1, room);
    bench_barrier();
    BENCH_SIZES (size, 8, (size_t)1 << 30) {
        c.size = size;
        c.transfers = size >= 65536 ? 1 : size <= 1024 ? 64 : (long)(65536 / size);
        for (c.workers = 1; c.workers <= 2 && c.workers <= bench.npes; c.workers++)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                char name[64];
                if (size < methods[m].least)
                    continue;
#if defined(__x86_64__)
                if ((methods[m].by == vector || methods[m].by == streaming) && !__builtin_cpu_supports("avx"))
                    continue;
#endif
                size_t bytes = size * (size_t)c.transfers;
                snprintf(name, sizeof name, "raw.copy%s.%s", c.workers == 2 ? "_both" : "", methods[m].name);
                c.by = methods[m].by;
                bench_measure((struct bench_point){.name = name, .size = size, .op = copy, .arg = &c,
                                                   .whose = c.workers == 2 ? BENCH_SLOWEST : BENCH_FIRST, .unit = BENCH_MBPS,
                                                   .weight = (double)bytes * c.workers});
                if (bench.pe == 1 % bench.npes)
                    bench_verify(boxes + room, bytes, 0, name);
                bench_barrier();
            }
    }
    bench_finish();
    return 0;
}
