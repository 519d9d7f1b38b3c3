// pes: 1 2
/* Neither shmem_global_exit nor a fatal error waits for a thread that holds a stream: one
 * that reads, for ever, or one that has locked what is to be written. What the streams
 * hold is written all the same. */
// case: reader exit reader | status=3 stdout=in_stdout
// case: holder exit holder | status=3 stdout=in_stdout
// case: input exit input | status=3 stdout=in_stdout stdout=in_another
// case: flusher exit flusher | status=3 stdout=in_stdout stdout=in_another
// case: misuse-reader misuse reader | status=1 stdout=in_stdout stderr=shmem_long_p
// case: misuse-holder misuse holder | status=1 stdout=in_stdout stderr=shmem_long_p
// case: misuse-flusher misuse flusher | status=1 stdout=in_stdout stderr=shmem_long_p
// case: others-too others reader | status=3 stdout=in_stdout
// case: both-threads both reader | status=3 stdout=in_stdout
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static long x;
static FILE *input;
static volatile int ready;

static void *read_for_ever(void *stream)
{
    ready = 1;
    fgetc(stream);
    return NULL;
}

static void *hold(void *stream)
{
    flockfile(stream);
    ready = 1;
    pause();
    return NULL;
}

static void *flush_all(void *unused)
{
    ready = 1;
    fflush(NULL); /* waits for the reader */
    return unused;
}

static void *leave(void *unused)
{
    ready = 1;
    usleep(100000);
    shmem_global_exit(3);
    return unused;
}

static void start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    ready = 0;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    while (!ready)
        usleep(1000);
    usleep(50000); /* so that it is where it should be, mostly */
}

int main(int argc, char **argv)
{
    int level, never[2];
    CHECK(argc == 3);
    const char *how = argv[1], *what = argv[2];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    int me = shmem_my_pe();
    static char buffer[1 << 16], another[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    FILE *file = fdopen(dup(1), "w");
    setvbuf(file, another, _IOFBF, sizeof another);
    CHECK(pipe(never) == 0 && dup2(never[0], 0) == 0);
    input = fdopen(never[0], "r");
    shmem_barrier_all();
    if (me == 0 || strcmp(how, "others") == 0) {
        if (strcmp(what, "holder") != 0) /* the stream that was opened last, or stdin */
            start(read_for_ever, strcmp(what, "input") == 0 ? input : stdin);
        printf("in_stdout\n");
        if (strcmp(what, "flusher") == 0) start(flush_all, NULL);
        fprintf(file, "in_another\n");
        if (strcmp(what, "flusher") == 0) printf("in_stdout\n");
        if (strcmp(what, "holder") == 0) start(hold, stdout);
    }
    if (me == 0) {
        if (strcmp(how, "misuse") == 0) shmem_long_p(&x, 1, 99);
        if (strcmp(how, "both") == 0) {
            start(leave, NULL);
            start(leave, NULL);
        }
        shmem_global_exit(3);
    }
    for (volatile long forever = 0;;)
        forever = forever + 1;
}
