/* packets MOST: how many packets with data a node sends, over two nodes whose network nobody else uses, for a
 * collective of 8 bytes a PE: at most MOST, on active sets and on teams; for an operation and a quiet: one;
 * and for each operation of a burst: at most a tenth. Collectives and quiets are counted again, up to TRIES times, while they
 * are more: a PE that loses its CPU between an operation and the quiet lets the first packet leave alone. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 500, BURST = 20000, MOST_PES = 16, TRIES = 5 };
static long source[MOST_PES], dest[MOST_PES], psync[2][SHMEM_SYNC_SIZE];
static long work_array[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long words[BURST], here[BURST], counter;
static int again;

/* TCP's packets with data, of this node. Those that only acknowledge are not counted: their number depends on time. */
static long sent(void)
{
    FILE *file = fopen("/proc/net/netstat", "r");
    char names[8192], values[8192];
    long all = -1;
    while (file && fgets(names, sizeof names, file) && fgets(values, sizeof values, file)) {
        char *name, *value, *rest = names, *others = values;
        while ((name = strtok_r(rest, " \n", &rest)) && (value = strtok_r(others, " \n", &others)))
            if (strcmp(name, "TCPOrigDataSent") == 0)
                all = atol(value);
    }
    if (file)
        fclose(file);
    if (all < 0) {
        printf("/proc/net/netstat has no TCPOrigDataSent\n");
        shmem_global_exit(1);
    }
    return all;
}

/* What PE 0 has found, on all PEs. */
static int by_pe_0(int found)
{
    for (int pe = 0; shmem_my_pe() == 0 && pe < shmem_n_pes(); pe++)
        shmem_int_p(&again, found, pe);
    shmem_barrier_all();
    found = again;
    shmem_barrier_all();
    return found;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), failed = 0;
    double most = argc > 1 ? atof(argv[1]) : 0;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = SHMEM_SYNC_VALUE;

#define SET 0, 0, npes
#define WORLD SHMEM_TEAM_WORLD
#define COUNT(call) COUNT_OF(most, call)
#define COUNT_OF(limit, call)                                                    \
    do {                                                                         \
        int wrong = 1;                                                           \
        for (int tries = 0; wrong && tries < TRIES; tries++) {                   \
            long before = 0;                                                     \
            for (int i = -10; i < CALLS; i++) {                                  \
                if (i == 0) {                                                    \
                    shmem_barrier_all();                                         \
                    before = sent();                                             \
                }                                                                \
                call;                                                            \
            }                                                                    \
            shmem_barrier_all();                                                 \
            double each = (double)(sent() - before) / CALLS;                     \
            if (me == 0)                                                         \
                printf("%.2f packets: %s\n", each, #call);                       \
            wrong = by_pe_0(!(each > 0.5 && each <= (limit)));                   \
        }                                                                        \
        failed |= wrong;                                                         \
    } while (0)

    COUNT(shmem_sync_all());
    COUNT(shmem_barrier(SET, psync[i & 1]));
    COUNT(shmem_long_sum_reduce(WORLD, dest, source, 1));
    COUNT(shmem_long_sum_to_all(dest, source, 1, SET, work_array, psync[i & 1]));
    COUNT(shmem_long_broadcast(WORLD, dest, source, 1, 0));
    COUNT(shmem_broadcast64(dest, source, 1, 0, SET, psync[i & 1]));
    COUNT(shmem_long_fcollect(WORLD, dest, source, 1));
    COUNT(shmem_fcollect64(dest, source, 1, SET, psync[i & 1]));
    /* What the PEs of a node tell the other one takes two messages if they are two. */
#define COUNT_TWO(call) COUNT_OF(most * npes / 2, call)
    COUNT_TWO(shmem_long_collect(WORLD, dest, source, 1));
    COUNT_TWO(shmem_collect64(dest, source, 1, SET, psync[i & 1]));
    COUNT_TWO(shmem_long_alltoall(WORLD, dest, source, 1));
    COUNT_TWO(shmem_alltoall64(dest, source, 1, SET, psync[i & 1]));
    if (npes == 4) { /* a set of one PE on each node */
#define SOME 0, 1, 2
        COUNT(if (me % 2 == 0) shmem_barrier(SOME, psync[i & 1]));
        COUNT(if (me % 2 == 0) shmem_long_sum_to_all(dest, source, 1, SOME, work_array, psync[i & 1]));
        COUNT(if (me % 2 == 0) shmem_broadcast64(dest, source, 1, 0, SOME, psync[i & 1]));
        COUNT(if (me % 2 == 0) shmem_fcollect64(dest, source, 1, SOME, psync[i & 1]));
        COUNT(if (me % 2 == 0) shmem_collect64(dest, source, 1, SOME, psync[i & 1]));
        COUNT(if (me % 2 == 0) shmem_alltoall64(dest, source, 1, SOME, psync[i & 1]));
    }

    /* An operation and a quiet: one packet. */
#define PAIR(call)                                                               \
    COUNT_OF(1.2, if (me == 0) {                                                 \
        call;                                                                    \
        shmem_quiet();                                                           \
    })
    PAIR(shmem_long_p(words, 1, npes - 1));
    PAIR(shmem_putmem(words, here, 100, npes - 1));
    PAIR(shmem_long_put_nbi(words, here, 1, npes - 1));
    PAIR(shmem_long_atomic_add(words, 1, npes - 1));
    PAIR(shmem_getmem_nbi(here, words, 500, npes - 1));
    PAIR(shmem_long_atomic_fetch_nbi(here, words, npes - 1));

    /* To the last PE; `check` is about its word i, or this PE's. */
#define BURST_OF(call, who, check)                                                   \
    do {                                                                             \
        shmem_barrier_all();                                                         \
        if (me == 0) {                                                               \
            long before = sent();                                                    \
            for (int i = 0; i < BURST; i++)                                          \
                call;                                                                \
            shmem_quiet();                                                           \
            double each = (double)(sent() - before) / BURST;                         \
            printf("%.4f packets: %s\n", each, #call);                               \
            failed |= !(each > 0 && each <= 0.1);                                    \
        }                                                                            \
        shmem_barrier_all();                                                         \
        for (int i = 0; i < BURST && me == (who); i++) {                             \
            if (!(check)) {                                                          \
                printf("wrong at %d: %s\n", i, #call);                               \
                failed = 1;                                                          \
                break;                                                               \
            }                                                                        \
        }                                                                            \
    } while (0)

    int last = npes - 1;
    long *heap = shmem_malloc(sizeof words);
    for (int i = 0; i < BURST; i++)
        heap[i] = 1000 * me + i;
    BURST_OF(shmem_long_p(&words[i], i + 1, last), last, words[i] == i + 1);
    BURST_OF(shmem_long_put_nbi(&words[i], &heap[i], 1, last), last, words[i] == i);
    BURST_OF(shmem_long_iput(&words[i], &heap[i], 1, 1, 1, last), last, words[i] == i);
    BURST_OF(shmem_long_atomic_add(&words[i % 100], 1, last), last,
             words[i] == i + (i < 100 ? BURST / 100 : 0));
    BURST_OF(shmem_long_put_signal(&words[i], &heap[0], 1, (uint64_t *)&counter, 1,
                                   SHMEM_SIGNAL_ADD, last), last,
             words[i] == 0 && counter == BURST);
    BURST_OF(shmem_long_get_nbi(&here[i], &heap[i], 1, last), 0, here[i] == 1000 * last + i);
    BURST_OF(shmem_long_atomic_fetch_add_nbi(&here[i], &counter, 1, last), 0,
             here[i] == BURST + i);
    fflush(stdout);
    if (failed)
        shmem_global_exit(1);
    shmem_finalize();
    return 0;
}
