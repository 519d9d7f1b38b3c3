/* How many small operations a second PE 0 issues to PE 1: p, g, put and get of
 * few bytes, to 512 places in turn in the symmetric heap, with a quiet after each 512;
 * `static` is the same in the program's variables. */
#include "bench.h"

#define PLACES 512

static int peer; /* PE 1, if there is one; a division in the loops would be measured too */
static char *chars;
static int *ints;
static long *longs, static_longs[PLACES];
static double *doubles;
static unsigned char *small_in, *small_out;

/* `name` is the type's or, for variables of the program, `static`. */
#define P_AND_G(name, type, T, places)                                                                    \
    static void p_##name(void *arg, long n)                                                         \
    {                                                                                               \
        (void)arg;                                                                                  \
        for (; n > 0 && bench.pe == 0; n--) {                                                       \
            for (int i = 0; i < PLACES; i++)                                                        \
                shmem_##type##_p(&places[i], (T)(i + 1), peer);                           \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }                                                                                               \
    static void g_##name(void *arg, long n)                                                         \
    {                                                                                               \
        (void)arg;                                                                                  \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            for (int i = 0; i < PLACES; i++) {                                                      \
                T value = shmem_##type##_g(&places[i], peer);                             \
                if (value != (T)(i + 1))                                                            \
                    bench_check(0, "g of " #name " %d: wrong value", i);                            \
            }                                                                                       \
    }                                                                                               \
    static void check_##name(void)                                                                  \
    {                                                                                               \
        if (bench.pe == peer)                                                             \
            for (int i = 0; i < PLACES; i++)                                                        \
                bench_check(places[i] == (T)(i + 1), "p of " #name " %d: wrong value", i);          \
        bench_barrier();                                                                            \
    }

P_AND_G(char, char, char, chars)
P_AND_G(int, int, int, ints)
P_AND_G(long, long, long, longs)
P_AND_G(double, double, double, doubles)
P_AND_G(static, long, long, static_longs)

/* The size is a constant, as it mostly is in programs. */
#define PUT_AND_GET(BYTES)                                                                          \
    static void put_##BYTES(void *arg, long n)                                                      \
    {                                                                                               \
        (void)arg;                                                                                  \
        for (; n > 0 && bench.pe == 0; n--) {                                                       \
            for (size_t i = 0; i < PLACES; i++)                                                     \
                shmem_putmem(small_in + i * BYTES, small_out + i * BYTES, BYTES, peer);             \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }                                                                                               \
    static void get_##BYTES(void *arg, long n)                                                      \
    {                                                                                               \
        (void)arg;                                                                                  \
        for (; n > 0 && bench.pe == 0; n--)                                                         \
            for (size_t i = 0; i < PLACES; i++)                                                     \
                shmem_getmem(small_in + i * BYTES, small_out + i * BYTES, BYTES, peer);             \
    }

PUT_AND_GET(8)
PUT_AND_GET(16)
PUT_AND_GET(32)
PUT_AND_GET(64)

static const struct {
    size_t size;
    void (*put)(void *, long), (*get)(void *, long);
} small[] = {{8, put_8, get_8}, {16, put_16, get_16}, {32, put_32, get_32}, {64, put_64, get_64}};

static void measure(const char *name, size_t size, void (*op)(void *, long))
{
    bench_measure((struct bench_point){.name = name, .size = size, .op = op, .unit = BENCH_MOPS, .weight = PLACES});
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    peer = 1 % bench.npes;
    chars = bench_alloc(PLACES * sizeof *chars);
    ints = bench_alloc(PLACES * sizeof *ints);
    longs = bench_alloc(PLACES * sizeof *longs);
    doubles = bench_alloc(PLACES * sizeof *doubles);
    small_in = bench_alloc(PLACES * 64);
    small_out = bench_alloc(PLACES * 64);
    bench_fill(small_out, PLACES * 64, (unsigned)(bench.pe + 1));
    bench_barrier();
#define BOTH(name, T)                                                                               \
    measure("rate.p." #name, sizeof(T), p_##name);                                                  \
    check_##name();                                                                                 \
    measure("rate.g." #name, sizeof(T), g_##name);
    BOTH(char, char)
    BOTH(int, int)
    BOTH(long, long)
    BOTH(double, double)
    BOTH(static, long)
    for (size_t s = 0; s < sizeof small / sizeof *small; s++) {
        size_t size = small[s].size;
        memset(small_in, 0, PLACES * 64);
        bench_barrier();
        measure("rate.put", size, small[s].put);
        if (bench.pe == peer)
            bench_verify(small_in, PLACES * size, 1, "rate.put");
        bench_barrier();
        measure("rate.get", size, small[s].get);
        if (bench.pe == 0)
            bench_verify(small_in, PLACES * size, (unsigned)peer + 1, "rate.get");
        bench_barrier();
    }
    bench_finish();
    return 0;
}
