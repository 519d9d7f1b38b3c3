/* Copies into memory that another process shares, by every method known to be the best one for some size
 * (copying.h). One process copying, and two at once. The best of them is the limit of put and get. */
#define BENCH_RAW
#include "../bench.h"
#include "copying.h"

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
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "copies go from one process to another");
    size_t room = bench.max > 65536 ? bench.max : 65536;
    unsigned char *boxes = raw_alloc(2 * room);
    struct copy c = {.in = boxes + (size_t)((bench.pe + 1) % 2) * room, .out = aligned_alloc(4096, (room + 4095) & ~(size_t)4095)};
    bench_check(c.out != NULL, "no memory");
    bench_fill(c.out, room, (unsigned)bench.pe);
    /* The owner of a box has touched it before anybody copies into it. */
    if (bench.pe < 2)
        memset(boxes + (size_t)bench.pe * room, 1, room);
    bench_barrier();
    BENCH_SIZES (size, 1, (size_t)1 << 30) {
        c.size = size;
        c.transfers = bench_window(size);
        /* Both ways at once are not asked for one by one. */
        for (c.workers = 1; c.workers <= (bench.only == NULL ? 2 : 1); c.workers++)
            for (size_t m = 0; m < COPYINGS; m++) {
                char name[64];
                if (!copying_can(&copying[m], size))
                    continue;
                size_t bytes = size * (size_t)c.transfers;
                snprintf(name, sizeof name, "raw.copy%s.%s", c.workers == 2 ? "_both" : "", copying[m].name);
                c.by = copying[m].by;
                if (bench.pe < 2)
                    memset(boxes + (size_t)bench.pe * room, 0xff, bytes);
                bench_barrier();
                bench_measure((struct bench_point){.name = name, .size = size, .op = copy, .arg = &c,
                                                   .whose = c.workers == 2 ? BENCH_SLOWEST : BENCH_FIRST, .unit = BENCH_MBPS,
                                                   .weight = (double)bytes * c.workers});
                if (bench.pe == 1 || (bench.pe == 0 && c.workers == 2))
                    bench_verify(boxes + (size_t)bench.pe * room, bytes, (unsigned)(1 - bench.pe), name);
                bench_barrier();
            }
    }
    bench_finish();
    return 0;
}
