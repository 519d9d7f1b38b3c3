// pes: 2
// partition: no
// env: SHMEM_SYMMETRIC_SIZE=256m
// case: put put | status=3 stdout=untouched
/* A large put whose source is much shorter than the program says faults before anything is copied: it does not
 * first fill as much of the heap as the source and what lies behind it have. */
#include "check.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 16 << 20 };

static long few[100];
static volatile long *there;

static void on_fault(int signal)
{
    (void)signal;
    const char *what = *there == 0 ? "untouched\n" : "filled\n";
    _exit(write(STDOUT_FILENO, what, strlen(what)) > 0 ? 3 : 4);
}

int main(void)
{
    shmem_init();
    long *block = (long *)shmem_malloc(COUNT * sizeof *block);
    CHECK(block != NULL);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        few[0] = 7;
        there = (long *)shmem_ptr(block, 1);
        signal(SIGSEGV, on_fault);
        signal(SIGBUS, on_fault);
        shmem_long_put(block, few, COUNT, 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
