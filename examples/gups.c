/*
 * gups: random updates of one big table spread over all PEs.
 *
 *   oshcc gups.c -o gups && oshrun -n 4 ./gups [log2 of the table's words]
 *
 * Shows: remote atomics at random places. Each update is an atomic xor, which
 * makes the run easy to verify: doing every update a second time must restore
 * the table.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long errors, total_errors; /* symmetric: arguments of a reduction */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A well mixed function of its argument (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* One round of this PE's updates. Each half of a random number is scaled to a
 * range, the PEs or the words of one: a multiplication is faster than a
 * division. */
static void update(uint64_t *table, uint64_t per_pe, uint64_t updates, int me, int npes)
{
    for (uint64_t u = 0; u < updates; u++) {
        uint64_t random = mix(((uint64_t)me << 48) + u);
        int pe = (int)((random >> 32) * (uint64_t)npes >> 32);
        uint64_t word = (random & 0xffffffff) * per_pe >> 32;
        shmem_uint64_atomic_xor(&table[word], random, pe);
    }
    shmem_barrier_all(); /* completes the updates, everyone's */
}

int main(int argc, char **argv)
{
    uint64_t words = (uint64_t)1 << (argc > 1 ? atoi(argv[1]) : 18);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t per_pe = (words + (uint64_t)npes - 1) / (uint64_t)npes;
    uint64_t updates = 4 * per_pe;

    /* Memory on the symmetric heap: every PE gets a block of the same size. */
    uint64_t *table = shmem_malloc(per_pe * sizeof *table);
    if (table == NULL) {
        fprintf(stderr, "the symmetric heap is too small for this table\n");
        shmem_global_exit(1);
    }
    for (uint64_t i = 0; i < per_pe; i++)
        table[i] = (uint64_t)me * per_pe + i;
    shmem_barrier_all();

    double start = seconds();
    update(table, per_pe, updates, me, npes);
    double elapsed = seconds() - start;

    /* The first round must have changed something, the second must undo it. */
    uint64_t changed = 0;
    for (uint64_t i = 0; i < per_pe; i++)
        changed += table[i] != (uint64_t)me * per_pe + i;
    errors = changed == 0;
    shmem_barrier_all();
    update(table, per_pe, updates, me, npes);
    for (uint64_t i = 0; i < per_pe; i++)
        errors += table[i] != (uint64_t)me * per_pe + i;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total_errors, &errors, 1);

    if (me == 0)
        printf("%llu updates of a table of %llu words on %d PEs: %.6f s, %.4f GUPS, %s\n",
               (unsigned long long)updates * (unsigned long long)npes,
               (unsigned long long)per_pe * (unsigned long long)npes, npes,
               elapsed, 1e-9 * (double)updates * npes / elapsed, total_errors ? "WRONG" : "verified");
    int wrong = total_errors != 0;
    shmem_free(table);
    shmem_finalize();
    return wrong;
}
