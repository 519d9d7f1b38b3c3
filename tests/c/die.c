// pes: 1 2 4 7
/* A PE that dies, or ends without shmem_finalize, ends the job, whatever the others
 * do, and the launcher says which it was and why. */
// case: killed-while-others-compute compute kill | status=137 stderr=signal
// case: killed-while-others-wait wait kill | status=137 stderr=signal
// case: killed-in-others-barrier barrier kill | status=137 stderr=signal
// case: killed-while-others-sleep sleep kill | status=137 stderr=signal
// case: killed-with-the-lock lock kill | status=137 stderr=signal
// case: killed-while-others-put put kill | status=nonzero stderr=signal
// case: fault compute fault | status=139 stderr=signal
// case: fault-while-others-wait wait fault | status=139 stderr=signal
// case: abort wait abort | status=134 stderr=signal
// case: exit-7 wait exit-7 | status=7 stderr=shmem_finalize
// case: exit-7-others-in-barrier barrier exit-7 | status=7 stderr=shmem_finalize
// case: exit-0 barrier exit-0 | status=nonzero stderr=shmem_finalize
// case: return-0 barrier return-0 | status=nonzero stderr=shmem_finalize
// case: finalized finalize exit-5 | status=5
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static long never, lock, taken;

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *others = argv[1], *how = argv[2];
    volatile int *volatile nowhere = (int *)8;
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    shmem_init();
    int me = shmem_my_pe(), victim = shmem_n_pes() - 1;
    if (strcmp(others, "lock") == 0 && me == victim) {
        shmem_set_lock(&lock);
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmem_long_atomic_set(&taken, 1, pe);
    }
    shmem_barrier_all();
    if (strcmp(others, "finalize") == 0) {
        shmem_finalize(); /* what comes then is an ordinary status */
        return me == victim ? 5 : 0;
    }
    if (me == victim) {
        usleep(50000); /* so that the others are where they should be, mostly */
        if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
        if (strcmp(how, "fault") == 0) *nowhere = 1;
        if (strcmp(how, "abort") == 0) abort();
        if (strcmp(how, "exit-7") == 0) exit(7);
        if (strcmp(how, "exit-0") == 0) exit(0);
        return 0;
    }
    if (strcmp(others, "compute") == 0)
        for (volatile long forever = 0;;)
            forever = forever + 1;
    if (strcmp(others, "put") == 0)
        for (long i = 0;; i++)
            shmem_long_p(&taken, i, victim);
    if (strcmp(others, "wait") == 0) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (strcmp(others, "barrier") == 0) shmem_barrier_all();
    if (strcmp(others, "lock") == 0) shmem_set_lock(&lock);
    for (;;)
        sleep(1000);
}
