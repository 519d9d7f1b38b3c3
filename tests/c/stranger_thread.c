// pes: 1 2
// cflags: -pthread
// env: SHMEM_DEBUG=1
// case: single 0 | stderr=shmem_long_p: stderr=SHMEM_THREAD_SINGLE
// case: funneled 1 | stderr=shmem_long_p: stderr=SHMEM_THREAD_FUNNELED
/* Under SHMEM_DEBUG a call by a thread that the level does not allow is told. */
#include "check.h"
#include <pthread.h>

static long here;

static void *call(void *unused)
{
    shmem_long_p(&here, 1, 0);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    CHECK_EQ(shmem_init_thread(argc > 1 ? atoi(argv[1]) : 0, &provided), 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, call, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
