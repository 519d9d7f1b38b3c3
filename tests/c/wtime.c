// pes: 1 2 4
/* shmemx_wtime: a clock that all PEs of a machine share, and that works without a job. */
#include "check.h"
#include <shmemx.h>
#include <time.h>

static double told;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    double before = shmemx_wtime();
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    double start = shmemx_wtime();
    CHECK(start > 0 && start >= before);
    /* It counts seconds, as fast as the system's clock does. */
    double from = seconds(), until;
    do
        until = seconds();
    while (until - from < 0.002);
    double end = shmemx_wtime();
    CHECK(end - start >= 0.002);

    /* What happens later on another PE of the machine has a later time. */
    shmem_barrier_all();
    shmem_double_p(&told, shmemx_wtime(), (me + 1) % npes);
    shmem_barrier_all();
    CHECK(told >= end && told <= shmemx_wtime());
    shmem_finalize();
    CHECK(shmemx_wtime() >= end);
    return 0;
}
