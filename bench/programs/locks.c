/* Locks: taken and given back by PE 0 with nobody else about; test_lock on a free
 * and on a taken one; and handed over, all PEs at one lock, each adding one to a
 * plain counter that only the lock protects. */
#include "bench.h"

static long *lock, *counter;

static void alone(void *arg, long n)
{
    (void)arg;
    for (; n > 0 && bench.pe == 0; n--) {
        shmem_set_lock(lock);
        shmem_clear_lock(lock);
    }
}

static void test_free(void *arg, long n)
{
    (void)arg;
    for (; n > 0 && bench.pe == 0; n--) {
        bench_check(shmem_test_lock(lock) == 0, "test_lock of a free lock fails");
        shmem_clear_lock(lock);
    }
}

static void test_taken(void *arg, long n)
{
    (void)arg;
    for (; n > 0 && bench.pe == 0; n--)
        bench_check(shmem_test_lock(lock) != 0, "test_lock of a taken lock succeeds");
}

/* What has been counted must be on PE 0 before the lock goes: clear_lock sees to it. */
static void handover(void *arg, long n)
{
    long *done = arg;
    *done += n;
    for (; n > 0; n--) {
        shmem_set_lock(lock);
        shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
        shmem_clear_lock(lock);
    }
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    lock = bench_alloc(sizeof *lock);
    counter = bench_alloc(sizeof *counter);
    struct bench_point p = {.name = "lock.alone", .op = alone, .unit = BENCH_NS, .weight = 1};
    bench_measure(p);
    p.name = "lock.test_free";
    p.op = test_free;
    bench_measure(p);
    if (bench.npes > 1) {
        if (bench.pe == 1)
            shmem_set_lock(lock);
        bench_barrier();
        p.name = "lock.test_taken";
        p.op = test_taken;
        bench_measure(p);
        if (bench.pe == 1)
            shmem_clear_lock(lock);
        bench_barrier();
    }
    long done = 0;
    /* The time between two owners: all PEs together make npes hand-overs a round. */
    bench_measure((struct bench_point){.name = "lock.handover", .op = handover, .arg = &done, .whose = BENCH_SLOWEST,
                                       .unit = BENCH_NS, .weight = bench.npes});
    bench_barrier();
    if (bench.pe == 0)
        bench_check(*counter == done * bench.npes, "the lock let %ld of %ld updates be lost", done * bench.npes - *counter,
                    done * bench.npes);
    bench_finish();
    return 0;
}
