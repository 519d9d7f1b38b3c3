// pes: 1 2
/* A signal that a process sends takes the course it would take without the library, at
 * once: the default action, or the program's own handler with all that was sent. */
// case: raise-segv raise segv | status=139 stderr=SIGSEGV
// case: raise-bus raise bus | status=135 stderr=SIGBUS
// case: kill-segv kill segv | status=139 stderr=SIGSEGV
// case: kill-bus kill bus | status=135 stderr=SIGBUS
// case: in-a-thread thread segv | status=139 stderr=SIGSEGV
// case: handler-before-init before segv
// case: handler-before-init-bus before bus
// case: handler-after-init after segv
// case: handler-on-its-own-stack stack segv
// case: handler-once once segv | status=139 stderr=SIGSEGV
// case: handler-that-calls-the-one-before chain bus | status=135 stderr=SIGBUS
// case: ignored ignored segv
// case: ignored-but-not-faults ignored-fault segv | status=139 stderr=SIGSEGV
// case: faults-handled faults segv
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { VALUE = 4711 };

static int number;
static volatile sig_atomic_t handled, was_sent, was_queued, value, on_stack;
static void *volatile fault_address;
static char stack[1 << 16];
static struct sigaction before;
static sigjmp_buf back;

static void handler(int signal, siginfo_t *info, void *context)
{
    char here;
    (void)context;
    handled += signal == number;
    was_sent = info->si_code <= 0 && info->si_pid == getpid();
    was_queued = info->si_code == SI_QUEUE;
    value = was_queued ? info->si_value.sival_int : 0;
    on_stack = &here >= stack && &here < stack + sizeof stack;
}

static void chained(int signal, siginfo_t *info, void *context)
{
    handled++;
    before.sa_sigaction(signal, info, context);
}

static void jump(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    fault_address = info->si_addr;
    siglongjmp(back, 1);
}

static void install(void (*function)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = function, .sa_flags = SA_SIGINFO | flags};
    CHECK(sigaction(number, &action, &before) == 0);
}

static void *raise_it(void *unused)
{
    raise(number);
    return unused;
}

static void queue_it(void)
{
    union sigval with = {.sival_int = VALUE};
    CHECK(sigqueue(getpid(), number, with) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *how = argv[1];
    number = strcmp(argv[2], "bus") == 0 ? SIGBUS : SIGSEGV;
    char *volatile nowhere = (char *)8;
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (strcmp(how, "before") == 0) install(handler, 0);
    if (strcmp(how, "once") == 0) install(handler, SA_RESETHAND);
    if (strcmp(how, "faults") == 0) install(jump, 0);
    if (strncmp(how, "ignored", 7) == 0) signal(number, SIG_IGN);
    if (strcmp(how, "stack") == 0) {
        stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
        CHECK(sigaltstack(&own, NULL) == 0);
        install(handler, SA_ONSTACK);
    }
    shmem_init();
    if (strcmp(how, "after") == 0) install(handler, 0);
    if (strcmp(how, "chain") == 0) install(chained, 0);
    if (shmem_my_pe() == 0) {
        if (strcmp(how, "raise") == 0 || strcmp(how, "chain") == 0) raise(number);
        if (strcmp(how, "kill") == 0) kill(getpid(), number);
        if (strcmp(how, "thread") == 0) {
            pthread_t thread;
            pthread_create(&thread, NULL, raise_it, NULL);
            pthread_join(thread, NULL);
        }
        if (strcmp(how, "before") == 0 || strcmp(how, "after") == 0 || strcmp(how, "stack") == 0) {
            raise(number);
            CHECK(handled == 1 && was_sent && !was_queued);
            queue_it();
            CHECK(handled == 2 && was_sent && was_queued && value == VALUE);
            CHECK(on_stack == (strcmp(how, "stack") == 0));
        }
        if (strcmp(how, "once") == 0) {
            queue_it();
            CHECK(handled == 1 && was_queued && value == VALUE);
            raise(number);
        }
        if (strcmp(how, "faults") == 0)
            for (; nowhere < (char *)10; nowhere++) {
                if (sigsetjmp(back, 1) == 0) *nowhere = 1;
                CHECK(fault_address == nowhere);
            }
        if (strncmp(how, "ignored", 7) == 0) {
            raise(number);
            raise(number);
        }
        if (strcmp(how, "ignored-fault") == 0) *nowhere = 1;
    }
    /* A signal that was to end the job has not. */
    if (strcmp(how, "raise") == 0 || strcmp(how, "kill") == 0 || strcmp(how, "thread") == 0)
        CHECK(shmem_my_pe() != 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
