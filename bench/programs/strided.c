/* Strided transfers from PE 0 to PE 1 (iput) and back (iget): elements a second, of 4 and of 8 bytes, every
 * other one in the target, in the source, or in both. An operation is 1024 elements, then quiet. */
#include "bench.h"
#include "shapes.h"

static unsigned char *in, *out;
static int peer;

#define STRIDED(call)                                                                               \
    static void call(void *arg, long n)                                                             \
    {                                                                                               \
        const struct shape *s = arg;                                                                \
        for (; n > 0 && bench.pe == 0; n--) {                                                       \
            shmem_##call(in, out, s->target, s->source, ELEMENTS, peer);                            \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }

STRIDED(iput32)
STRIDED(iget32)
STRIDED(iput64)
STRIDED(iget64)

static const struct {
    const char *name;
    void (*op)(void *, long);
    size_t size;
    int is_put;
} tests[] = {{"iput", iput32, 4, 1}, {"iput", iput64, 8, 1}, {"iget", iget32, 4, 0}, {"iget", iget64, 8, 0}};

/* The elements have arrived, and nothing between them has been touched. */
static void check(const struct shape *s, size_t size, const char *name, unsigned seed)
{
    static unsigned char sent[STRIDE * ELEMENTS * 8], expected[STRIDE * ELEMENTS * 8];
    bench_fill(sent, sizeof sent, seed);
    memset(expected, 0xff, sizeof expected);
    for (size_t i = 0; i < ELEMENTS; i++)
        memcpy(expected + i * (size_t)s->target * size, sent + i * (size_t)s->source * size, size);
    bench_check(memcmp(in, expected, STRIDE * ELEMENTS * size) == 0, "%s of %zu-byte elements: wrong data", name, size);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    peer = 1 % bench.npes;
    in = bench_alloc(STRIDE * ELEMENTS * 8);
    out = bench_alloc(STRIDE * ELEMENTS * 8);
    bench_fill(out, STRIDE * ELEMENTS * 8, (unsigned)bench.pe);
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            char name[64];
            struct shape shape = shapes[i];
            snprintf(name, sizeof name, "strided.%s.%s", tests[t].name, shape.name);
            memset(in, 0xff, STRIDE * ELEMENTS * 8);
            bench_barrier();
            bench_measure((struct bench_point){.name = name, .size = tests[t].size, .op = tests[t].op, .arg = &shape,
                                               .unit = BENCH_MOPS, .weight = ELEMENTS});
            if (bench.pe == (tests[t].is_put ? peer : 0))
                check(&shape, tests[t].size, name, (unsigned)(tests[t].is_put ? 0 : peer));
            bench_barrier();
        }
    bench_finish();
    return 0;
}
