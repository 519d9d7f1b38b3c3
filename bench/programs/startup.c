/* What starting costs, seen from inside: shmem_init, the first contact with each
 * other PE, the first barrier. One sample a PE. The wall time of the whole job is
 * the driver's to measure: this program does as little else as it can. */
#include "bench.h"

static long word = 1;

/* The engine's batches are not used: each of these happens once in a job. */
static void tell(const char *name, double mine)
{
    double *all = (double *)bench_gather(mine);
    if (bench.pe == 0)
        bench_report(name, 0, "ns", all, bench.npes);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    /* PEs that share CPUs begin with a time slice of their own. What other PEs do before it is no cost of shmem_init;
     * what it waits for is. */
    sched_yield();
    double start = bench_now();
    bench_begin_job(argc, argv);
    double init = bench_now() - start;
    bench_check(bench.npes <= BENCH_MAX_PES, "more than %d PEs", BENCH_MAX_PES);
    bench_arguments(argc, argv);

    start = bench_now();
    shmem_barrier_all();
    double barrier = bench_now() - start;

    /* The others alone: memory of its own needs no contact. */
    start = bench_now();
    long sum = 0, others = bench.npes - 1;
    for (int i = 1; i <= others; i++)
        sum += shmem_long_g(&word, (bench.pe + i) % bench.npes);
    double contact = (bench_now() - start) / (double)others;
    bench_check(sum == others, "first contact: %ld words of %ld", sum, others);

    tell("startup.init", init);
    tell("startup.first_barrier", barrier);
    if (others > 0)
        tell("startup.first_contact", contact);
    bench_finish();
    return 0;
}
