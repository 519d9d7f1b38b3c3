/* barrier_raw PROCESSES [barriers]: a barrier by one central counter on a shared page,
 * with sched_yield while waiting. Prints microseconds for one. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct page {
    _Alignas(128) atomic_long arrived;
    _Alignas(128) atomic_long round;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void barrier(struct page *page, long processes)
{
    long round = atomic_load(&page->round);
    if (atomic_fetch_add(&page->arrived, 1) == processes - 1) {
        atomic_store(&page->arrived, 0);
        atomic_store(&page->round, round + 1);
    } else {
        while (atomic_load(&page->round) == round)
            sched_yield();
    }
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 2, barriers = argc > 2 ? atoi(argv[2]) : 20000;
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || processes < 1)
        return 1;
    int me = 0;
    for (int process = 1; process < processes && me == 0; process++)
        if (fork() == 0)
            me = process;
    for (int i = 0; i < barriers / 10; i++)
        barrier(page, processes);
    double start = now();
    for (int i = 0; i < barriers; i++)
        barrier(page, processes);
    if (me != 0)
        _exit(0);
    printf("%.3f\n", (now() - start) / barriers);
    while (wait(NULL) > 0)
        ;
    return 0;
}
