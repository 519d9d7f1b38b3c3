// pes: 1 2
// variants: all
// cflags: -pthread
/* A PE may fork while its other threads work: neither they nor the child take harm. */
#include "check.h"
#include "forked.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 100, WORKERS = 2 };
static volatile int stop;
static long word = 1;

/* Uses what the C library keeps for all threads. */
static void *work(void *argument)
{
    char text[64];
    for (long i = 0; !stop; i++) {
        char *block = malloc((size_t)(100 + i % 5000));
        CHECK(block != NULL);
        snprintf(text, sizeof text, "%ld", i);
        block[0] = text[0];
        free(block);
    }
    return argument;
}

static void *nothing(void *argument)
{
    return argument;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    pthread_t workers[WORKERS], brief;
    for (int i = 0; i < WORKERS; i++)
        CHECK_EQ(pthread_create(&workers[i], NULL, work, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) {
        word = i;
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char *block = malloc(1000);
            int good = block != NULL && word == i;
            word = -1;
            _exit(good ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQ(status, forked_status());
        CHECK_EQ(word, i);
        CHECK_EQ(pthread_create(&brief, NULL, nothing, NULL), 0);
        CHECK_EQ(pthread_join(brief, NULL), 0);
    }
    stop = 1;
    for (int i = 0; i < WORKERS; i++)
        CHECK_EQ(pthread_join(workers[i], NULL), 0);
    shmem_barrier_all();
    shmem_long_p(&word, 1000 + me, to);
    shmem_barrier_all();
    CHECK_EQ(word, 1000 + (me + npes - 1) % npes);
    shmem_finalize();
    return 0;
}
