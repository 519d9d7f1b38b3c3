// pes: 1 2 4
/* Initialisation leaves each signal its action, the default one or the program's own: but for faults, and for
 * SIGTERM, with which the library ends PEs. So it is with what the library loads, on one node and over several.
 * Its threads take none of the program's signals. */
// case: default
// case: own own
#include "check.h"
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

enum { SIGNALS = 64 };
static volatile sig_atomic_t handled;

static void handler(int signal)
{
    handled = signal;
}

static int is_for_library(int signal)
{
    return signal == SIGILL || signal == SIGABRT || signal == SIGBUS || signal == SIGFPE || signal == SIGSEGV ||
           signal == SIGTERM;
}

/* All standard signals but SIGKILL and SIGSTOP, as /proc shows a thread's mask. */
static const unsigned long long standard = 0x7fffffff & ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));

static void check_threads(void)
{
    DIR *threads = opendir("/proc/self/task");
    char name[300], line[100];
    for (struct dirent *thread; threads && (thread = readdir(threads)) != NULL;) {
        unsigned long long blocked;
        int number = atoi(thread->d_name);
        if (number == 0 || number == getpid()) continue;
        snprintf(name, sizeof name, "/proc/self/task/%s/status", thread->d_name);
        FILE *status = fopen(name, "r");
        while (status && fgets(line, sizeof line, status))
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1 && (blocked & standard) != standard) {
                fprintf(stderr, "thread %s blocks only %llx\n", thread->d_name, blocked);
                CHECK(0);
            }
        if (status) fclose(status);
    }
    if (threads) closedir(threads);
}

int main(int argc, char **argv)
{
    struct sigaction own = {.sa_handler = handler}, before[SIGNALS + 1], after;
    (void)argv;
    for (int i = 1; i <= SIGNALS; i++) {
        if (argc > 1 && !is_for_library(i)) (void)sigaction(i, &own, NULL);
        if (sigaction(i, NULL, &before[i]) != 0) before[i].sa_handler = SIG_ERR;
    }
    shmem_init();
    static long word;
    shmem_long_atomic_inc(&word, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    for (int i = 1; i <= SIGNALS; i++) {
        if (before[i].sa_handler == SIG_ERR || is_for_library(i)) continue;
        CHECK(sigaction(i, NULL, &after) == 0);
        if (after.sa_handler != before[i].sa_handler || after.sa_flags != before[i].sa_flags) {
            fprintf(stderr, "signal %d has got another action\n", i);
            CHECK(0);
        }
    }
    check_threads();
    if (argc > 1) {
        raise(SIGHUP);
        CHECK_EQ(handled, SIGHUP);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
