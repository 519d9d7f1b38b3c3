// pes: 1 2 4
// variants: all
// cflags: -pthread
/* A program's own fork handlers (pthread_atfork) work on static data of one process each,
 * though the program registered them before it initialised the library: what the prepare
 * handler leaves is what the child finds, and what the child's handler does stays with it. */
#include "check.h"
#include "forked.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 50 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile long pair[2], prepared, in_parent, in_child;

static void prepare(void)
{
    pthread_mutex_lock(&mutex);
    prepared++;
}
static void parent(void)
{
    in_parent++;
    pthread_mutex_unlock(&mutex);
}
static void child(void)
{
    in_child = prepared;
    pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void before_main(void)
{
    CHECK_EQ(pthread_atfork(prepare, parent, child), 0);
}

/* Without the lock the two always agree. */
static void *work(void *argument)
{
    while (!stop) {
        pthread_mutex_lock(&mutex);
        pair[0]++;
        usleep(1);
        pair[1]++;
        pthread_mutex_unlock(&mutex);
        usleep(1);
    }
    return argument;
}

int main(void)
{
    pthread_t worker;
    shmem_init();
    CHECK_EQ(pthread_create(&worker, NULL, work, NULL), 0);
    for (int i = 1; i <= CHILDREN; i++) {
        int status;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            if (prepared != i || in_child != i || in_parent != i - 1)
                _exit(1);
            if (pthread_mutex_trylock(&mutex) != 0)
                _exit(2);
            _exit(pair[0] == pair[1] ? 0 : 3);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_EQ(status, forked_status());
        CHECK_EQ(prepared, i);
        CHECK_EQ(in_parent, i);
        CHECK_EQ(in_child, 0);
    }
    stop = 1;
    pthread_join(worker, NULL);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
