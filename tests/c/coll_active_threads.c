// pes: 1 2 3 4 7 8
// cflags: -pthread
// case: plain plain
// case: debug debug | env=SHMEM_DEBUG=1
/* rule 10d.3: threads with pSync arrays of their own may be in collectives over the same
 * active set at once, in any order. rule 2.2 */
#include "check.h"
#include <pthread.h>

enum { THREADS = 3 };
static int me, npes, rounds;
static long psync[THREADS][2][SHMEM_SYNC_SIZE];
static int64_t source[THREADS], dest[THREADS][MAX_PES];
static long sum[THREADS], addend[THREADS], work_array[THREADS][SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void *work(void *argument)
{
    int t = (int)(intptr_t)argument;
    for (int r = 0; r < rounds; r++) {
        int root = (r + t) % npes;
        source[t] = 10000 * t + 100 * r + me;
        shmem_broadcast64(dest[t], &source[t], 1, root, 0, 0, npes, psync[t][0]);
        if (me != root)
            CHECK_EQ(dest[t][0], 10000 * t + 100 * r + root);
        shmem_barrier(0, 0, npes, psync[t][1]);
        shmem_fcollect64(dest[t], &source[t], 1, 0, 0, npes, psync[t][0]);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(dest[t][pe], 10000 * t + 100 * r + pe);
        addend[t] = t + r;
        shmem_long_sum_to_all(&sum[t], &addend[t], 1, 0, 0, npes, work_array[t], psync[t][1]);
        CHECK_EQ(sum[t], (long)(t + r) * npes);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            psync[t][0][i] = psync[t][1][i] = SHMEM_SYNC_VALUE;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    rounds = check_rounds(100);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(threads[t], NULL), 0);
    shmem_finalize();
    return 0;
}
