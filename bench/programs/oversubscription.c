/* More PEs than CPUs: a token round the ring of PEs (nanoseconds for one hop), a
 * barrier of all, and a reduction of 8 bytes. The driver runs it with 1, 2, 4 and 8
 * times as many PEs as there are CPUs. */
#include "bench.h"

static long *token, *mine, *total;
static long *psync[2], *pwrk[2];

struct rounds {
    long count;
};

static void ring(void *arg, long n)
{
    struct rounds *r = arg;
    int next = (bench.pe + 1) % bench.npes;
    for (; n > 0; n--) {
        r->count++;
        if (bench.pe == 0)
            shmem_long_p(token, r->count, next);
        shmem_long_wait_until(token, SHMEM_CMP_EQ, r->count);
        if (bench.pe != 0)
            shmem_long_p(token, r->count, next);
    }
}

static void barrier(void *arg, long n)
{
    (void)arg;
    for (; n > 0; n--)
        shmem_barrier_all();
}

static void reduce(void *arg, long n)
{
    struct rounds *r = arg;
    for (; n > 0; n--) {
        shmem_long_sum_to_all(total, mine, 1, 0, 0, bench.npes, pwrk[r->count % 2], psync[r->count % 2]);
        r->count++;
        shmem_barrier_all();
    }
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    token = bench_alloc(sizeof *token);
    mine = bench_alloc(sizeof *mine);
    total = bench_alloc(sizeof *total);
    *mine = 1;
    for (int k = 0; k < 2; k++) {
        psync[k] = bench_alloc(SHMEM_REDUCE_SYNC_SIZE * sizeof(long));
        pwrk[k] = bench_alloc(SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof(long));
        for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
            psync[k][i] = SHMEM_SYNC_VALUE;
    }
    bench_barrier();
    struct rounds hops = {0}, sums = {0};
    bench_measure((struct bench_point){.name = "oversubscribed.ring", .size = sizeof(long), .op = ring, .arg = &hops,
                                       .unit = BENCH_NS, .weight = bench.npes});
    bench_check(*token == hops.count, "the token is %ld instead of %ld", *token, hops.count);
    bench_measure((struct bench_point){.name = "oversubscribed.barrier_all", .op = barrier, .whose = BENCH_SLOWEST,
                                       .unit = BENCH_NS, .weight = 1});
    bench_measure((struct bench_point){.name = "oversubscribed.sum_and_barrier", .size = sizeof(long), .op = reduce, .arg = &sums,
                                       .whose = BENCH_SLOWEST, .unit = BENCH_NS, .weight = 1});
    bench_check(*total == bench.npes, "the sum is %ld instead of %d", *total, bench.npes);
    bench_finish();
    return 0;
}
