/* Bandwidth between PEs 0 and 1: put in one direction, in both at once, get,
 * and the same without blocking (nbi). An operation is a window of transfers to different
 * places, as many as make 64 KiB (at least one, at most 64), then quiet. */
#include "bench.h"

struct window {
    unsigned char *in, *out;
    size_t size;
    long transfers;
};

/* One direction: PE 0 works. Both directions: PE 1 does the same towards PE 0. */
#define WINDOWED(name, workers, call)                                                               \
    static void name(void *arg, long n)                                                             \
    {                                                                                               \
        struct window *w = arg;                                                                     \
        int peer = 1 - bench.pe;                                                                    \
        if (bench.pe >= (workers))                                                                  \
            return;                                                                                 \
        for (; n > 0; n--) {                                                                        \
            for (long i = 0; i < w->transfers; i++)                                                 \
                call(w->in + (size_t)i * w->size, w->out + (size_t)i * w->size, w->size, peer);     \
            shmem_quiet();                                                                          \
        }                                                                                           \
    }

WINDOWED(put, 1, shmem_putmem)
WINDOWED(put_both, 2, shmem_putmem)
WINDOWED(put_nbi, 1, shmem_putmem_nbi)
WINDOWED(get, 1, shmem_getmem)
WINDOWED(get_both, 2, shmem_getmem)
WINDOWED(get_nbi, 1, shmem_getmem_nbi)

static const struct {
    const char *name;
    void (*op)(void *, long);
    int workers, checked_on; /* PE whose `in` the transfers of PE 0 change */
} tests[] = {
    {"bandwidth.put", put, 1, 1},         {"bandwidth.put_both", put_both, 2, 1},
    {"bandwidth.put_nbi", put_nbi, 1, 1}, {"bandwidth.get", get, 1, 0},
    {"bandwidth.get_both", get_both, 2, 0}, {"bandwidth.get_nbi", get_nbi, 1, 0},
};

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "bandwidth needs 2 PEs");
    size_t room = bench.max > 65536 ? bench.max : 65536;
    struct window w = {bench_alloc(room), bench_alloc(room), 0, 0};
    bench_fill(w.out, room, (unsigned)bench.pe);
    BENCH_SIZES (size, 1, (size_t)1 << 30) {
        w.size = size;
        w.transfers = bench_window(size);
        for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
            if (!bench_wanted(tests[t].name))
                continue;
            size_t bytes = size * (size_t)w.transfers;
            memset(w.in, 0xff, bytes);
            bench_barrier();
            bench_measure((struct bench_point){.name = tests[t].name, .size = size, .op = tests[t].op, .arg = &w,
                                               .whose = tests[t].workers == 2 ? BENCH_SLOWEST : BENCH_FIRST,
                                               .unit = BENCH_MBPS, .weight = (double)bytes * tests[t].workers});
            if (bench.pe == tests[t].checked_on || (tests[t].workers == 2 && bench.pe < 2))
                bench_verify(w.in, bytes, (unsigned)(1 - bench.pe), tests[t].name);
            bench_barrier();
        }
    }
    bench_finish();
    return 0;
}
