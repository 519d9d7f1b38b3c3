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

static void put_small(void *arg, long n)
{
    size_t size = *(size_t *)arg;
    for (; n > 0 && bench.pe == 0; n--) {
        for (int i = 0; i < PLACES; i++)
            shmem_putmem(small_in + (size_t)i * size, small_out + (size_t)i * size, size, peer);
        shmem_quiet();
    }
}

static void get_small(void *arg, long n)
{
    size_t size = *(size_t *)arg;
    for (; n > 0 && bench.pe == 0; n--)
        for (int i = 0; i < PLACES; i++)
            shmem_getmem(small_in + (size_t)i * size, small_out + (size_t)i * size, size, peer);
}

static void measure(const char *name, size_t size, void (*op)(void *, long))
{
    bench_measure((struct bench_point){.name = name, .size = size, .op = op, .arg = &size, .unit = BENCH_MOPS, .weight = PLACES});
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
    for (size_t size = 8; size <= 64; size *= 2) {
        memset(small_in, 0, PLACES * 64);
        bench_barrier();
        measure("rate.put", size, put_small);
        if (bench.pe == peer)
            bench_verify(small_in, PLACES * size, 1, "rate.put");
        bench_barrier();
        measure("rate.get", size, get_small);
        if (bench.pe == 0)
            bench_verify(small_in, PLACES * size, (unsigned)peer + 1, "rate.get");
        bench_barrier();
    }
    bench_finish();
    return 0;
}
