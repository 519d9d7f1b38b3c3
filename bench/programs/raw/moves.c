/* What collectives are bound by: the bytes that each process must get from others, copied by as many
 * processes at once, without a word to one another, by the quickest method there is; and a barrier on a central
 * counter. Only memory that is read and written in the collective itself is used, in the same places.
 *
 *   broadcast   all but the root copy its block
 *   fcollect    each copies the blocks of all
 *   alltoall    each copies its block from all
 *   reduce      each gets a slice of everyone's elements, and everyone's result: of the other processes'
 *               that is twice (pes - 1) / pes blocks
 */
#define BENCH_RAW
#include "../bench.h"
#include "copying.h"

struct moves {
    void (*all)(const struct moves *);
    const struct copying *method;
    unsigned char **source, **dest; /* of each process, npes blocks */
    size_t size;
};

/* Somebody else's block first, so that not all read from one process. */
static int after_me(int i) { return (bench.pe + 1 + i) % bench.npes; }

static void broadcast(const struct moves *m)
{
    if (bench.pe != 0)
        m->method->by(m->dest[bench.pe], m->source[0], m->size);
}

static void fcollect(const struct moves *m)
{
    for (int i = 0, pe; pe = after_me(i), i < bench.npes; i++)
        m->method->by(m->dest[bench.pe] + (size_t)pe * m->size, m->source[pe], m->size);
}

static void alltoall(const struct moves *m)
{
    for (int i = 0, pe; pe = after_me(i), i < bench.npes; i++)
        m->method->by(m->dest[bench.pe] + (size_t)pe * m->size, m->source[pe] + (size_t)bench.pe * m->size, m->size);
}

static void reduce(const struct moves *m)
{
    size_t slice = m->size / (size_t)bench.npes;
    if (slice == 0)
        slice = 1;
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0, pe; pe = after_me(i), i < bench.npes - 1; i++) {
            size_t from = (size_t)(twice ? pe : bench.pe) * slice;
            m->method->by(m->dest[bench.pe] + from, m->source[pe] + from, slice);
        }
}

/* Many times without a word to one another. Then all wait for the last, once: where processes take turns on a
 * CPU, what counts is when all are done. */
static void moves(void *arg, long n)
{
    const struct moves *m = arg;
    for (; n > 0; n--) {
        m->all(m);
        __asm__ volatile("" ::: "memory");
    }
    bench_barrier();
}

static void compare(void *dest, const void *source, size_t size)
{
    bench_check(memcmp(dest, source, size) == 0, "%zu bytes did not arrive", size);
}

/* Whether everything lies where it belongs: the same moves again, with comparisons in place of copies. */
static void check(struct moves m)
{
    static const struct copying comparing = {"compare", compare, 1, 1};
    size_t slice = m.size / (size_t)bench.npes;
    m.method = &comparing;
    if (m.all != reduce)
        m.all(&m);
    /* Everyone's elements went to one place: there only the last ones are left. */
    for (int pe = 0; m.all == reduce && pe < bench.npes; pe++)
        if (pe != bench.pe)
            compare(m.dest[bench.pe] + (size_t)pe * slice, m.source[pe] + (size_t)pe * slice, slice);
}

static void barrier(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        bench_barrier();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*all)(const struct moves *);
    } operations[] = {{"broadcast", broadcast}, {"fcollect", fcollect}, {"alltoall", alltoall}, {"reduce", reduce}};
    bench_start(argc, argv);
    bench_measure((struct bench_point){.name = "raw.barrier", .op = barrier, .weight = 1, .whose = BENCH_SLOWEST, .unit = BENCH_NS});
    unsigned char *source[BENCH_MAX_PES], *dest[BENCH_MAX_PES];
    size_t room = bench.max * (size_t)bench.npes;
    for (int pe = 0; pe < bench.npes; pe++) {
        source[pe] = raw_alloc(room);
        dest[pe] = raw_alloc(room);
    }
    /* As in the collectives' program, the owner has touched them. */
    bench_fill(source[bench.pe], room, (unsigned)bench.pe);
    memset(dest[bench.pe], 1, room);
    bench_barrier();
    struct moves m = {.source = source, .dest = dest};
    BENCH_SIZES (size, 8, (size_t)1 << 30)
        for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
            for (size_t k = 0; k < COPYINGS; k++) {
                char name[64];
                m.all = operations[o].all;
                m.method = &copying[k];
                m.size = size;
                size_t piece = operations[o].all == reduce ? size / (size_t)bench.npes : size;
                if (!copying_can(&copying[k], piece))
                    continue;
                snprintf(name, sizeof name, "raw.%s.%s", operations[o].name, copying[k].name);
                memset(dest[bench.pe], 0xff, room);
                bench_barrier();
                bench_measure((struct bench_point){.name = name, .size = size, .op = moves, .arg = &m,
                                                   .whose = BENCH_SLOWEST, .unit = BENCH_NS, .weight = 1});
                check(m);
                bench_barrier();
            }
    bench_finish();
    return 0;
}
