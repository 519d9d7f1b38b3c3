/* pingpong [round trips]: one word of 8 bytes back and forth between two PEs.
 * Prints nanoseconds for one way. Its counterpart is pingpong_raw.c. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long ball;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    long trips = argc > 1 ? atol(argv[1]) : 200000;
    shmem_init();
    int me = shmem_my_pe(), other = 1 - me;
    double start = 0;
    for (long trip = 1 - trips / 10; trip <= trips; trip++) { /* a tenth to warm up */
        if (trip == 1) {
            shmem_barrier_all();
            start = now();
        }
        long mark = trip + trips; /* never 0 */
        if (me == 0)
            shmem_long_p(&ball, mark, other);
        shmem_long_wait_until(&ball, SHMEM_CMP_EQ, mark);
        if (me == 1)
            shmem_long_p(&ball, mark, other);
    }
    if (me == 0)
        printf("%.1f\n", (now() - start) / (double)trips / 2);
    shmem_finalize();
    return 0;
}
