// pes: 2
// variants: pie
// inline: no
/* A busy process of the same session on the CPU of a PE that waits makes rounds at most 20 times as long: it
 * gets its share of the CPU, but no time slice for each wait. Rounds are measured without it and with it by
 * turns, and the best of each count: others on this machine can only make rounds longer. */
#define _GNU_SOURCE
#include "check.h"
#include "neighbour.h"
#include <sched.h>

enum { TURNS = 20, MOST = 20 };

static long flag, stop;
static int me;

/* Leaves this process, and its children, only the `number`th of its CPUs. Returns whether it has as many. */
static int bind_to(int number)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all) && number-- == 0)
            CPU_SET(cpu, &one);
    return CPU_COUNT(&one) == 1 && sched_setaffinity(0, sizeof one, &one) == 0;
}

/* The mean time of rounds in 50 ms: PE 0 waits while PE 1 computes for 20 us, then PE 1 for PE 0. */
static double round_time(void)
{
    static long rounds;
    shmem_barrier_all();
    double start = now();
    long first = rounds;
    for (stop = 0; !stop;) {
        rounds++;
        if (me == 0) {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, rounds);
            stop = now() - start > 0.05;
            shmem_long_p(&stop, stop, 1);
            shmem_fence();
            shmem_long_p(&flag, rounds, 1);
        } else {
            for (double until = now() + 20e-6; now() < until;)
                ;
            shmem_long_p(&flag, rounds, 0);
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, rounds);
        }
    }
    double mean = (now() - start) / (double)(rounds - first);
    shmem_barrier_all();
    return mean;
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    static long bound, both;
    bound = bind_to(me);
    shmem_long_min_reduce(SHMEM_TEAM_WORLD, &both, &bound, 1);
    if (both) {
        pid_t neighbour = me == 0 ? busy_neighbour() : -1;
        static double own[2] = {1e9, 1e9}, best[2]; /* without the neighbour, and with it */
        for (int turn = 0; turn < TURNS && (turn < 2 || turn % 2 || best[1] > MOST * best[0]); turn++) {
            if (me == 0)
                kill(neighbour, turn % 2 ? SIGCONT : SIGSTOP);
            double mean = round_time();
            if (mean < own[turn % 2])
                own[turn % 2] = mean;
            shmem_double_broadcast(SHMEM_TEAM_WORLD, best, own, 2, 0);
        }
        if (me == 0)
            kill(neighbour, SIGKILL);
        CHECK(best[1] <= MOST * best[0]);
    }
    shmem_finalize();
    return 0;
}
