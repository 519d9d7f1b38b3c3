/* The message-rate test of the Sandia micro-benchmarks, as in the paper that
 * this project starts from: each PE puts 128 messages to each of six peers, then
 * waits for the last one expected from each of its six senders. One iteration is
 * one sample; before each, outside the timed part, the caches are invalidated by
 * a pass over as many bytes as they hold. The figure is the average rate of one PE. All PEs take part;
 * with fewer than 7 PEs, the peers there are.
 *
 * "The last expected" is a flag put after fence: message order within one peer
 * is the library's business otherwise. The flags are not counted as messages. */
#include "bench.h"

#define MESSAGES 128
#define PEERS 6

static long *arrived; /* one for each sender */

struct traffic {
    unsigned char *in, *out;
    size_t size;
    int peers;
    long iteration;
};

static void prepare(void *arg)
{
    struct traffic *t = arg;
    bench_pass_caches();
    t->iteration++;
    memcpy(t->out, &t->iteration, sizeof(long));
}

static void iteration(void *arg, long n)
{
    struct traffic *t = arg;
    (void)n;
    for (int j = 0; j < t->peers; j++) {
        int peer = (bench.pe + 1 + j) % bench.npes;
        unsigned char *dest = t->in + (size_t)j * MESSAGES * t->size;
        for (int k = 0; k < MESSAGES; k++)
            shmem_putmem(dest + (size_t)k * t->size, t->out, t->size, peer);
        shmem_fence();
        shmem_long_p(&arrived[j], t->iteration, peer);
    }
    for (int j = 0; j < t->peers; j++)
        shmem_long_wait_until(&arrived[j], SHMEM_CMP_GE, t->iteration);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "the message rate needs 2 PEs");
    struct traffic t = {.peers = bench.npes - 1 < PEERS ? bench.npes - 1 : PEERS};
    size_t most = bench.max < 65536 ? bench.max : 65536;
    arrived = bench_alloc(PEERS * sizeof *arrived);
    t.out = bench_alloc(most);
    t.in = bench_alloc((size_t)PEERS * MESSAGES * most);
    BENCH_SIZES (size, sizeof(long), most) {
        t.size = size;
        bench_measure((struct bench_point){.name = "msgrate.put", .size = size, .op = iteration, .arg = &t,
                                           .prepare = prepare, .whose = BENCH_MEAN, .unit = BENCH_MOPS,
                                           .weight = (double)t.peers * MESSAGES, .exactly = bench.iters});
        for (int i = 0; i < t.peers * MESSAGES; i++) {
            long stamp;
            memcpy(&stamp, t.in + (size_t)i * size, sizeof(long));
            bench_check(stamp == t.iteration, "message %d is of iteration %ld instead of %ld", i, stamp, t.iteration);
        }
        bench_barrier();
    }
    bench_finish();
    return 0;
}
