// pes: 3 4
// cflags: -pthread
// env: SHMEM_DEBUG=1
// case: two-sets two-sets | status=nonzero stderr=pSync stderr=PE_start stderr=collective
// case: larger larger | status=nonzero stderr=pSync stderr=PE_start stderr=collective
// case: threads threads | status=nonzero stderr=shmem_sync stderr=pSync stderr=thread
// case: well well
// case: unchecked unchecked | env=SHMEM_DEBUG=0
/* rule 10d.3: under SHMEM_DEBUG, a pSync array that another active set still uses
 * ends the job; sets that have no PE in common may have the same one. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 50 };
static const char *trial;
static long array[SHMEM_SYNC_SIZE], second[SHMEM_SYNC_SIZE];
static long source, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int me, npes;

static int is(const char *name) { return strcmp(trial, name) == 0; }

/* The job ends without this PE. */
static void stay_away(void)
{
    for (;;)
        pause();
}

static void *sync_first_two(void *unused)
{
    shmem_sync(0, 0, 2, array);
    return unused;
}

/* Neighbours, those two apart, and all, in turn. */
static void well(void)
{
    long *heap = shmem_malloc(sizeof array);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        heap[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        long *psync = r % 2 ? array : heap;
        /* {0, 1} and {2, ...} at once, and each more than once */
        int first = me < 2 ? 0 : 2;
        for (int i = 0; i < 3; i++) {
            shmem_barrier(first, 0, first ? npes - 2 : 2, psync);
            shmem_sync(first, 0, first ? npes - 2 : 2, psync);
        }
        /* {0, 2} and {1, ...} use another one, so they need not wait for others. */
        if (me == 0 || me == 2)
            shmem_long_sum_to_all(&sum, &source, 1, 0, 1, 2, work, second);
        else
            shmem_sync(1, 1, npes / 2, second);
        shmem_barrier_all();
        shmem_barrier(0, 0, npes, psync);
        shmem_barrier_all();
    }
    shmem_free(heap);
}

int main(int argc, char **argv)
{
    int provided;
    trial = argc > 1 ? argv[1] : "";
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        array[i] = second[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (is("two-sets") || is("larger")) {
        if (me == 1)
            shmem_barrier(0, 0, 2, array);
        else if (me == 2 && is("larger"))
            shmem_long_sum_to_all(&sum, &source, 1, 0, 0, npes, work, array);
        else if (me == 2)
            shmem_sync(0, 1, 2, array);
        stay_away();
    } else if (is("threads")) {
        pthread_t thread;
        if (me != 0)
            stay_away();
        CHECK_EQ(pthread_create(&thread, NULL, sync_first_two, NULL), 0);
        sync_first_two(NULL);
    } else if (is("unchecked")) {
        /* Works as long as each PE goes through the sets in the same order. */
        if (me < 2)
            shmem_sync(0, 0, 2, array);
        shmem_barrier_all();
    } else {
        well();
    }
    shmem_finalize();
    return 0;
}
