// pes: 1 2 4 8
// variants: all
// cflags: -pthread
// case: count count
// case: mutex mutex
// case: read read
// case: spawn spawn
// case: alarm alarm
// case: stack stack
// case: stack_threads stack_threads
// case: refused refused
// case: refused_stack refused_stack
// case: refused_starting refused_starting
// case: refused_blocked refused_blocked | backend=memfd stderr=(stubborn) stderr=blocks
/* Nothing that others write to static data while the library initialises is lost, whoever
 * they are: threads, system calls, handlers, frames of a stack that is static itself. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 3, SLOTS = 1 << 15, MIB = 1 << 20 };
static unsigned char large[16 * MIB] = {1}; /* so that moving it takes a while */
static atomic_int stop, started;
static long slots[THREADS][SLOTS];
static int initialise(void)
{
    int provided;
    while (started < THREADS)
        usleep(1000);
    int error = shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    usleep(1000);
    stop = 1;
    return error;
}

static long sum(const long *of)
{
    long total = 0;
    for (int i = 0; i < SLOTS; i++)
        total += of[i];
    return total;
}

/* Counts in static memory all over the place, and how often it did on its stack. */
static void *count(void *argument)
{
    long *own = argument, done = 0;
    for (started++; !stop; done++)
        own[done * 37 % SLOTS]++;
    CHECK_EQ(sum(own), done);
    return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long guarded[2];
static void *hand_over(void *argument)
{
    for (started++; !stop;) {
        pthread_mutex_lock(&mutex);
        guarded[0]++;
        guarded[1]++;
        CHECK_EQ(guarded[0], guarded[1]);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

/* A system call writes to static memory. */
static unsigned char received[8 * MIB];
static void *receive(void *argument)
{
    int ends[2];
    unsigned char numbers[4096];
    CHECK_EQ(pipe(ends), 0);
    for (started++; !stop;) {
        for (size_t at = 0; at < sizeof received && !stop; at += sizeof numbers) {
            memset(numbers, (int)(received[at] + 1), sizeof numbers);
            CHECK(write(ends[1], numbers, sizeof numbers) == (ssize_t)sizeof numbers);
            CHECK(read(ends[0], received + at, sizeof numbers) == (ssize_t)sizeof numbers);
            CHECK(memcmp(received + at, numbers, sizeof numbers) == 0);
        }
    }
    return argument;
}

/* Each thread counts one and starts its successor. */
static atomic_long generations;
static long living[SLOTS];
static void *live(void *argument)
{
    long number = (long)(intptr_t)argument;
    pthread_attr_t detached;
    pthread_t next;
    living[number % SLOTS]++;
    if (number == THREADS)
        started = THREADS;
    if (stop) {
        generations = number + 1;
        return NULL;
    }
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    CHECK_EQ(pthread_create(&next, &detached, live, (void *)(intptr_t)(number + 1)), 0);
    return NULL;
}

static volatile long ticks, *ticks_outside;
static void tick(int signal)
{
    (void)signal;
    ticks++;
    ++*ticks_outside;
}

static ucontext_t outside, inside;
static _Alignas(64) char stack[MIB];
static void on_static_stack(void)
{
    volatile long local = 77;
    CHECK_EQ(initialise(), 0);
    CHECK_EQ(local, 77);
}

static void run_on_static_stack(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, on_static_stack, 0);
    CHECK_EQ(swapcontext(&outside, &inside), 0);
}

/* From now on this process may trace nobody. */
static void refuse_ptrace(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = filter};
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void set_all_signals(int how)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(how, &all, NULL);
}

static void *block_all(void *argument)
{
    set_all_signals(SIG_BLOCK);
    prctl(PR_SET_NAME, "stubborn");
    return count(argument);
}

/* As a thread that has just been started, but for longer. */
static void *block_all_at_first(void *argument)
{
    set_all_signals(SIG_BLOCK);
    started++;
    usleep(20000);
    set_all_signals(SIG_UNBLOCK);
    started--;
    return count(argument);
}

static pthread_t threads[THREADS];
static void start(void *work(void *))
{
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, slots[i]), 0);
}
static void join(void)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *test = argv[1];
    memset(large, 1, sizeof large);
    if (strncmp(test, "refused", 7) == 0)
        refuse_ptrace();
    if (strcmp(test, "count") == 0 || strcmp(test, "refused") == 0) {
        start(count);
        CHECK_EQ(initialise(), 0);
        join();
    } else if (strcmp(test, "refused_starting") == 0) {
        start(block_all_at_first);
        CHECK_EQ(initialise(), 0);
        join();
    } else if (strcmp(test, "mutex") == 0) {
        start(hand_over);
        CHECK_EQ(initialise(), 0);
        join();
    } else if (strcmp(test, "read") == 0) {
        started = THREADS - 1;
        CHECK_EQ(pthread_create(&threads[0], NULL, receive, NULL), 0);
        CHECK_EQ(initialise(), 0);
        pthread_join(threads[0], NULL);
    } else if (strcmp(test, "spawn") == 0) {
        live(0);
        CHECK_EQ(initialise(), 0);
        while (generations == 0)
            usleep(1000);
        CHECK_EQ(sum(living), generations);
    } else if (strcmp(test, "alarm") == 0) {
        struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
        ticks_outside = calloc(1, sizeof *ticks_outside);
        signal(SIGALRM, tick);
        CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
        started = THREADS;
        CHECK_EQ(initialise(), 0);
        CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
        CHECK_EQ(ticks, *ticks_outside);
    } else if (strcmp(test, "stack") == 0) {
        started = THREADS;
        run_on_static_stack();
    } else if (strcmp(test, "stack_threads") == 0 || strcmp(test, "refused_stack") == 0) {
        start(count);
        run_on_static_stack();
        join();
    } else if (strcmp(test, "refused_blocked") == 0) {
        start(block_all);
        CHECK(initialise() != 0); /* and no thread takes harm */
        join();
        return 0;
    } else {
        CHECK(!"a known test");
    }
    /* What has moved is symmetric. */
    static long from = -1;
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    shmem_long_p(&from, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(from, (me + npes - 1) % npes);
    for (size_t i = 0; i < sizeof large; i += 1000)
        CHECK_EQ(large[i], 1);
    shmem_finalize();
    return 0;
}
