/*
 * queue: PEs take tasks of uneven size from one shared counter.
 *
 *   oshcc queue.c -o queue && oshrun -n 4 ./queue [tasks]
 *
 * Shows: dynamic load balance by an atomic fetch-and-add. Nobody is the master:
 * the counter merely lives on PE 0, which need not do anything for it to work.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long next_task;  /* the queue; the copy on PE 0 is the one in use */
static long tasks_done; /* on PE 0: how many were done in total */
static long answer;     /* on PE 0: the sum of all results */
static double elapsed;  /* seconds from one barrier to the other, on this PE */
static double longest;  /* the same, the longest of all PEs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A task: the number of steps of the Collatz sequence from n to 1. How long it
 * takes cannot be told beforehand. */
static long collatz_steps(long n)
{
    long steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

int main(int argc, char **argv)
{
    long ntasks = argc > 1 ? atol(argv[1]) : 20000;
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    double start = seconds();

    long mine = 0, sum = 0;
    for (;;) {
        long task = shmem_long_atomic_fetch_inc(&next_task, 0);
        if (task >= ntasks)
            break;
        sum += collatz_steps(task + 1);
        mine++;
    }
    shmem_long_atomic_add(&tasks_done, mine, 0);
    shmem_long_atomic_add(&answer, sum, 0);

    /* Completes everyone's atomics before anyone goes on. */
    shmem_barrier_all();
    elapsed = seconds() - start;
    /* A PE that left the first barrier late may find all tasks done. */
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &longest, &elapsed, 1);
    printf("PE %d did %ld tasks\n", me, mine);

    int wrong = 0;
    if (me == 0) {
        long expected = 0;
        for (long task = 0; task < ntasks; task++)
            expected += collatz_steps(task + 1);
        wrong = tasks_done != ntasks || answer != expected;
        printf("%ld of %ld tasks done, %ld steps: %.6f s, %s\n", tasks_done, ntasks, answer,
               longest, wrong ? "WRONG" : "verified");
    }
    shmem_finalize();
    return wrong;
}
