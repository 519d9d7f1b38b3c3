/*
 * gups: random updates of one big table spread over all PEs.
 *
 *   oshcc -O2 gups.c -o gups && oshrun -n 4 ./gups [log2 of the table's words]
 *
 * Shows: two ways to change words at random places of other PEs. In the first,
 * each update is a remote atomic xor. In the second, a PE collects a batch of
 * updates, as the rules of the HPC Challenge allow, and puts them, with a signal,
 * to the PEs that have the words; these apply them. Every update made twice
 * restores the table, so each way verifies the other.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long errors, total_errors; /* symmetric: arguments of a reduction */
static double elapsed[2];         /* seconds from barrier to barrier, both ways, on this PE */
static double longest[2];         /* the same, the longest of all PEs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "PE %d: not enough memory for this table\n", shmem_my_pe());
        shmem_global_exit(1);
    }
    return memory;
}

/* A well mixed function of its argument (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Update u of PE me. */
static uint64_t number(int me, uint64_t u) { return mix(((uint64_t)me << 48) + u); }

/* Each half of a random number is scaled to a range, the PEs or the words of one: a
 * multiplication is faster than a division. */
static int owner(uint64_t random, int npes) { return (int)((random >> 32) * (uint64_t)npes >> 32); }
static uint64_t place(uint64_t random, uint64_t per_pe) { return (random & 0xffffffff) * per_pe >> 32; }

static void update_by_atomics(uint64_t *table, uint64_t per_pe, uint64_t updates)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (uint64_t u = 0; u < updates; u++) {
        uint64_t random = number(me, u);
        shmem_uint64_atomic_xor(&table[place(random, per_pe)], random, owner(random, npes));
    }
    shmem_barrier_all(); /* completes the updates, everyone's */
}

/* The most updates that a PE collects, by the rules of the HPC Challenge. */
enum { BATCH = 1024 };

struct batch {
    uint64_t length, updates[BATCH];
};

static void update_by_batches(uint64_t *table, uint64_t per_pe, uint64_t updates)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    size_t n = (size_t)npes;
    /* From each PE a signal, which counts its batches, and room for two of them. PEs send
     * a batch when they have applied all batches before it. So they are at most one batch
     * apart, and the one in the other half is never overwritten too early. */
    uint64_t *arrived = need(shmem_calloc(n, sizeof *arrived));
    struct batch *inbox[2] = {need(shmem_malloc(n * sizeof(struct batch))),
                              need(shmem_malloc(n * sizeof(struct batch)))};
    struct batch *outbox = need(malloc(n * sizeof *outbox));
    for (uint64_t u = 0, sent = 0; u < updates; u += BATCH) {
        for (int pe = 0; pe < npes; pe++)
            outbox[pe].length = 0;
        for (uint64_t i = u; i < updates && i < u + BATCH; i++) {
            uint64_t random = number(me, i);
            struct batch *to = &outbox[owner(random, npes)];
            to->updates[to->length++] = random;
        }
        struct batch *in = inbox[sent++ % 2];
        for (int k = 1; k <= npes; k++) {
            int pe = (me + k) % npes; /* everyone starts elsewhere, to spread the load */
            shmem_uint64_put_signal(&in[me].length, &outbox[pe].length, 1 + outbox[pe].length,
                                    &arrived[me], sent, SHMEM_SIGNAL_SET, pe);
        }
        for (int k = 0; k < npes; k++) {
            int pe = (me + npes - k) % npes; /* in the order of arrival */
            shmem_signal_wait_until(&arrived[pe], SHMEM_CMP_GE, sent);
            for (uint64_t i = 0; i < in[pe].length; i++)
                table[place(in[pe].updates[i], per_pe)] ^= in[pe].updates[i];
        }
    }
    free(outbox);
    shmem_free(inbox[1]);
    shmem_free(inbox[0]);
    shmem_free(arrived); /* a barrier: everyone has applied everything */
}

int main(int argc, char **argv)
{
    uint64_t words = (uint64_t)1 << (argc > 1 ? atoi(argv[1]) : 18);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t per_pe = (words + (uint64_t)npes - 1) / (uint64_t)npes;
    uint64_t updates = 4 * per_pe;

    /* Memory on the symmetric heap: every PE gets a block of the same size. */
    uint64_t *table = need(shmem_malloc(per_pe * sizeof *table));
    for (uint64_t i = 0; i < per_pe; i++)
        table[i] = (uint64_t)me * per_pe + i;
    shmem_barrier_all();

    double start = seconds();
    update_by_atomics(table, per_pe, updates);
    elapsed[0] = seconds() - start;

    /* The first way must have changed something, the second must undo it. */
    uint64_t changed = 0;
    for (uint64_t i = 0; i < per_pe; i++)
        changed += table[i] != (uint64_t)me * per_pe + i;
    errors = changed == 0;
    shmem_barrier_all();
    start = seconds();
    update_by_batches(table, per_pe, updates);
    elapsed[1] = seconds() - start;
    for (uint64_t i = 0; i < per_pe; i++)
        errors += table[i] != (uint64_t)me * per_pe + i;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total_errors, &errors, 1);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, longest, elapsed, 2);

    int wrong = total_errors != 0;
    if (me == 0) {
        double all = 1e-9 * (double)updates * npes;
        printf("%.0f updates of a table of %llu words on %d PEs\n", 1e9 * all,
               (unsigned long long)per_pe * (unsigned long long)npes, npes);
        printf("by atomics: %.6f s, %.4f GUPS\n", longest[0], all / longest[0]);
        printf("by batches: %.6f s, %.4f GUPS, %s\n", longest[1], all / longest[1],
               wrong ? "WRONG" : "verified");
    }
    shmem_free(table);
    shmem_finalize();
    return wrong;
}
