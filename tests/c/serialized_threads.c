// pes: 2
// cflags: -pthread
// env: SHMEM_DEBUG=1
// case: wait wait | status=nonzero stderr=shmem_long_p stderr=shmem_long_wait_until stderr=SHMEM_THREAD_SERIALIZED
// case: waits waits | status=nonzero stderr=shmem_int_wait_until stderr=shmem_long_wait_until stderr=SHMEM_THREAD_SERIALIZED
// case: any any | status=nonzero stderr=shmem_long_p stderr=shmem_long_wait_until_any stderr=SHMEM_THREAD_SERIALIZED
// case: lock lock | status=nonzero stderr=shmem_long_p stderr=shmem_set_lock stderr=SHMEM_THREAD_SERIALIZED
// case: team team | status=nonzero stderr=shmem_long_p stderr=shmem_barrier_all stderr=SHMEM_THREAD_SERIALIZED
// case: set set | status=nonzero stderr=shmem_long_p stderr=shmem_barrier stderr=SHMEM_THREAD_SERIALIZED
// case: puts puts | status=nonzero stderr=shmem_putmem stderr=SHMEM_THREAD_SERIALIZED
// case: in-turn in-turn
// case: multiple multiple
// case: unchecked wait | env=SHMEM_DEBUG=0
/* Under SHMEM_DEBUG a call while another thread is in one ends the job at
 * SHMEM_THREAD_SERIALIZED, and at no other level. rule 2.2 */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { BYTES = 1 << 22, TURNS = 2000, LOOKS = 300 };
static volatile int called;
static const char *trial;
static long flag, other, lock, psync[SHMEM_BARRIER_SYNC_SIZE];
static int small;
static char bytes[2][BYTES];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int me;

static int is(const char *name) { return strcmp(trial, name) == 0; }

static void *call(void *unused)
{
    called = 1;
    if (is("wait") || is("waits") || is("multiple"))
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    else if (is("any"))
        shmem_long_wait_until_any(&flag, 1, NULL, SHMEM_CMP_EQ, 1);
    else if (is("lock"))
        shmem_set_lock(&lock); /* which PE 1 has */
    else if (is("team"))
        shmem_barrier_all(); /* to which PE 1 does not come */
    else if (is("set"))
        shmem_barrier(0, 0, 2, psync);
    else if (is("puts"))
        for (int i = 0; i < TURNS; i++)
            shmem_putmem(bytes[0], bytes[0], BYTES, me);
    else
        for (int i = 0; i < TURNS; i++) {
            pthread_mutex_lock(&turn);
            shmem_long_p(&other, i, 1 - me);
            pthread_mutex_unlock(&turn);
        }
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    trial = argc > 1 ? argv[1] : "";
    int level = is("multiple") ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED;
    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    me = shmem_my_pe();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    if (is("lock") && me == 1)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    int alone = is("lock") || is("team") || is("set");
    if (alone && me == 1)
        for (;;)
            pause(); /* The job ends without it. */
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, call, NULL), 0);
    while (!called)
        usleep(1000);
    /* Long enough for the thread to be in its call. */
    for (int i = 0; i < (is("puts") ? TURNS : LOOKS) && !is("in-turn"); i++) {
        usleep(is("puts") ? 0 : 1000);
        if (is("puts"))
            shmem_putmem(bytes[1], bytes[1], BYTES, me);
        else if (is("waits"))
            shmem_int_wait_until(&small, SHMEM_CMP_EQ, 1);
        else
            shmem_long_p(&other, i, me);
    }
    for (int i = 0; i < TURNS && is("in-turn"); i++) {
        pthread_mutex_lock(&turn);
        shmem_long_p(&other, i, me);
        shmem_quiet();
        pthread_mutex_unlock(&turn);
    }
    shmem_long_p(&flag, 1, me);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
