// pes: 1 2 4 7
// cflags: -pthread
/* SHMEM_THREAD_MULTIPLE: four threads a PE with own and shared contexts, atomics,
 * locks and waits at once. rule 2.2, rule 2.6, rule 2.9, rule 2.10 */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };
static int me, npes, rounds;
static long total, from_default, guarded, lock;
static long slots[MAX_PES * THREADS];
static uint64_t signals[THREADS];
static shmem_ctx_t shared_ctx;
static pthread_mutex_t lock_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    int t = (int)(intptr_t)argument, to = (me + 1) % npes;
    shmem_ctx_t own; /* rule 5.4: used and destroyed by the thread that made it */
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own), 0);
    for (int r = 0; r < rounds; r++) {
        shmem_ctx_long_atomic_inc(own, &total, r % npes);
        shmem_ctx_long_atomic_inc(shared_ctx, &total, r % npes);
        shmem_long_atomic_inc(&from_default, r % npes);
        shmem_ctx_long_p(own, &slots[me * THREADS + t], r, to);
        shmem_ctx_quiet(own);
        CHECK_EQ(shmem_ctx_long_g(own, &slots[me * THREADS + t], to), r);
        /* a ring of signals among the threads of the same number */
        shmem_ctx_signal_set(own, &signals[t], (uint64_t)r + 1, to);
        shmem_signal_wait_until(&signals[t], SHMEM_CMP_GE, (uint64_t)r + 1);
        if (r % 10 == 0) {
            pthread_mutex_lock(&lock_mutex); /* the lock is the PE's: rule 13.4 */
            shmem_set_lock(&lock);
            shmem_long_p(&guarded, shmem_long_g(&guarded, 0) + 1, 0);
            shmem_clear_lock(&lock);
            pthread_mutex_unlock(&lock_mutex);
        }
    }
    shmem_ctx_destroy(own);
    return NULL;
}

/* rule 0.13, rule 2.9: a thread that waits stops neither its PE nor others; rule 11.2: a wait
 * sees an update by another thread of its own PE. */
static long wake;
static void *waiter(void *argument)
{
    (void)argument;
    shmem_long_wait_until(&wake, SHMEM_CMP_EQ, 1);
    return NULL;
}

/* rule 2.8: two threads in collectives of different teams at the same time */
static shmem_team_t teams[2];
static long in[2] = {1, 2}, out[2];
static void *reduce(void *argument)
{
    int t = (int)(intptr_t)argument;
    for (int r = 0; r < rounds / 3; r++) {
        CHECK_EQ(shmem_long_sum_reduce(teams[t], &out[t], &in[t], 1), 0);
        CHECK_EQ(out[t], (t + 1) * npes);
        shmem_team_sync(teams[t]);
    }
    return NULL;
}

int main(void)
{
    int provided = -1, queried = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    shmem_query_thread(&queried);
    CHECK_EQ(queried, provided); /* rule 2.5 */
    me = shmem_my_pe();
    npes = shmem_n_pes();
    rounds = check_rounds(300);
    CHECK_EQ(shmem_ctx_create(0, &shared_ctx), 0);
    pthread_t threads[THREADS], waiting;
    pthread_create(&waiting, NULL, waiter, NULL);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    shmem_ctx_quiet(shared_ctx);
    shmem_barrier_all();
    static long sums[2], mine[2];
    mine[0] = total;
    mine[1] = from_default;
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, mine, 2), 0);
    CHECK_EQ(sums[0], 2L * THREADS * rounds * npes);
    CHECK_EQ(sums[1], (long)THREADS * rounds * npes);
    CHECK_EQ(shmem_long_g(&guarded, 0), (long)THREADS * (rounds / 10) * npes);
    shmem_long_atomic_set(&wake, 1, me);
    pthread_join(waiting, NULL);

    for (int t = 0; t < 2; t++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[t]), 0);
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, reduce, (void *)(intptr_t)t);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
