// pes: 8
/* Whoever leaves the last barrier early finds nothing wrong with those that are still in it;
 * one that has made other calls than the rest is told so. */
// case: stopped-kary stopped | env=SHMEM_BARRIER_ALGORITHM=kary
// case: stopped-knomial stopped | env=SHMEM_BARRIER_ALGORITHM=knomial
// case: stopped-dissemination stopped | env=SHMEM_BARRIER_ALGORITHM=dissemination
// case: one-more more | status=1 stderr=finalised
// case: one-more-kary more | status=1 stderr=finalised env=SHMEM_BARRIER_ALGORITHM=kary
// case: one-more-dissemination more | status=1 stderr=finalised env=SHMEM_BARRIER_ALGORITHM=dissemination
// case: waits waits | status=1 stderr=finalised
#include "check.h"
#include <signal.h>
#include <unistd.h>

static long never;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *how = argv[1];
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    if (strcmp(how, "stopped") == 0) {
        /* PE 1 stops while it waits for PE 0, and so PE 0 leaves before those it wakes. */
        pid_t pe = getpid();
        if (me == 1 && fork() == 0) {
            usleep(200000);
            kill(pe, SIGSTOP);
            usleep(1800000);
            kill(pe, SIGCONT);
            _exit(0);
        }
        if (me == 0) usleep(400000);
    } else if (me == 3) {
        shmem_barrier_all(); /* the others' last one */
        if (strcmp(how, "waits") == 0) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    }
    shmem_finalize();
    return 0;
}
