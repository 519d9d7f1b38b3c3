/* pingpong_raw [round trips]: the same as pingpong.c by loads and stores on a page
 * that two processes share: what the hardware gives. Prints nanoseconds for one way. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct page { /* each process waits on a cache line of its own */
    _Alignas(128) _Atomic long ball[2][16];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void play(struct page *page, int me, long trips)
{
    double start = 0;
    for (long trip = 1 - trips / 10; trip <= trips; trip++) {
        if (trip == 1)
            start = now();
        long mark = trip + trips;
        if (me == 0)
            atomic_store_explicit(&page->ball[1][0], mark, memory_order_release);
        while (atomic_load_explicit(&page->ball[me][0], memory_order_acquire) != mark)
            __builtin_ia32_pause();
        if (me == 1)
            atomic_store_explicit(&page->ball[0][0], mark, memory_order_release);
    }
    if (me == 0)
        printf("%.1f\n", (now() - start) / (double)trips / 2);
}

int main(int argc, char **argv)
{
    long trips = argc > 1 ? atol(argv[1]) : 200000;
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    pid_t child = fork();
    if (child < 0)
        return 1;
    play(page, child == 0, trips);
    if (child == 0)
        _exit(0);
    int status;
    return waitpid(child, &status, 0) != child || status != 0;
}
