/* A word of shared memory back and forth between two processes, half of the round trip:
 * the limit of every wait and every small message. Then a message copied by memcpy, a
 * long one also in the other ways, with the flag after it: the limit of the ping-pong. */
#define BENCH_RAW
#include "../bench.h"
#include "copying.h"

struct exchange {
    atomic_long *flags; /* one each, RAW_APART from one another */
    unsigned char *boxes, *out;
    const struct copying *copying;
    size_t size, room;
    long count;
};

/* Which way is quicker differs between machines, and with how far two CPUs are from each other: a loop without a
 * pause sees a store sooner, one with a pause keeps the line from being asked for while it is written; a swap in
 * place of a store has it out of the processor before the waiting begins. */
enum way { TIGHT, PAUSE, SWAP };

__attribute__((always_inline)) static inline void pingpong(void *arg, long n, enum way way)
{
    struct exchange *x = arg;
    int me = bench.pe;
    atomic_long *mine = &x->flags[me * RAW_APART], *other = &x->flags[(1 - me) * RAW_APART];
    for (; n > 0 && me < 2; n--) {
        long count = ++x->count;
        for (int turn = 0; turn < 2; turn++) {
            if (turn != me) {
                while (atomic_load_explicit(mine, memory_order_acquire) < count)
                    if (way != TIGHT)
                        raw_pause();
                continue;
            }
            if (x->size > sizeof(long))
                x->copying->by(x->boxes + (size_t)(1 - me) * x->room, x->out, x->size);
            if (way == SWAP)
                atomic_exchange(other, count);
            else
                atomic_store_explicit(other, count, memory_order_release);
        }
    }
}

static void pingpong_tight(void *arg, long n) { pingpong(arg, n, TIGHT); }
static void pingpong_pause(void *arg, long n) { pingpong(arg, n, PAUSE); }
static void pingpong_swap(void *arg, long n) { pingpong(arg, n, SWAP); }

/* The ways with memcpy; and the other ways to copy, where messages are long. */
static const struct {
    const char *name;
    void (*op)(void *, long);
} ways[] = {{"tight", pingpong_tight}, {"pause", pingpong_pause}, {"swap", pingpong_swap}};

#define WAYS (sizeof ways / sizeof *ways)
#define LONG_MESSAGE 4096

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "a ping-pong needs 2 processes");
    struct exchange x = {.room = (bench.max + 4095) & ~(size_t)4095};
    x.flags = raw_alloc((size_t)bench.npes * RAW_APART * sizeof(long));
    x.boxes = raw_alloc(2 * x.room);
    x.out = aligned_alloc(4096, x.room);
    bench_check(x.out != NULL, "no memory");
    bench_fill(x.out, bench.max, (unsigned)bench.pe);
    BENCH_SIZES (size, sizeof(long), (size_t)1 << 30) {
        for (size_t w = 0; w < WAYS + COPYINGS - 1; w++) {
            char name[64];
            x.copying = w < WAYS ? &copying[0] : &copying[w - WAYS + 1];
            if (w >= WAYS && (size < LONG_MESSAGE || !copying_can(x.copying, size)))
                continue;
            snprintf(name, sizeof name, "raw.pingpong.%s", w < WAYS ? ways[w].name : x.copying->name);
            x.size = size;
            x.count = 0;
            if (bench.pe == 0)
                memset(x.flags, 0, (size_t)bench.npes * RAW_APART * sizeof(long));
            if (bench.pe < 2)
                memset(x.boxes + (size_t)bench.pe * x.room, 0xff, size);
            bench_barrier();
            bench_measure((struct bench_point){.name = name, .size = size, .op = w < WAYS ? ways[w].op : pingpong_pause,
                                               .arg = &x, .unit = BENCH_NS, .weight = 2, .chained = 1});
            if (bench.pe < 2)
                bench_check(atomic_load(&x.flags[bench.pe * RAW_APART]) == x.count, "%s: the last flag never came", name);
            if (bench.pe < 2 && size > sizeof(long))
                bench_verify(x.boxes + (size_t)bench.pe * x.room, size, (unsigned)(1 - bench.pe), name);
            bench_barrier();
        }
    }
    bench_finish();
    return 0;
}
