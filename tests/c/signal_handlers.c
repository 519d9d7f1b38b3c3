// pes: 1 2 4
/* Initialisation leaves each signal its action, the default one or the program's own: but for faults, and for
 * SIGTERM, with which the library ends PEs. So it is with what the library loads, on one node and over several. */
// case: default
// case: own own
#include "check.h"
#include <signal.h>

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
    if (argc > 1) {
        raise(SIGHUP);
        CHECK_EQ(handled, SIGHUP);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
