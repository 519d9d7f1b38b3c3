// pes: 1 2 4 7 8
/* rule 1.11: one PE ends the job, whatever the others do; what it printed is out. */
// case: others-compute compute | status=3 stdout=buffered_and_flushed stdout=of_the_others
// case: others-wait wait | status=3 stdout=buffered_and_flushed stdout=of_the_others
// case: others-in-barrier barrier | status=3 stdout=buffered_and_flushed stdout=of_the_others
// case: others-in-a-lock lock | status=3 stdout=buffered_and_flushed stdout=of_the_others
// case: others-sleep sleep | status=3 stdout=buffered_and_flushed stdout=of_the_others
// case: all-call all | status=3 stdout=buffered_and_flushed
// case: zero zero | status=0 stdout=buffered_and_flushed
// case: handler handler | status=3 stdout=buffered_and_flushed stdout=handler_ran stdout=of_the_others
// case: handler-hangs handler-hangs | status=3 stdout=buffered_and_flushed stdout=handler_ran
// case: handler-waits handler-waits | status=3 stdout=buffered_and_flushed stdout=handler_ran
// case: handler-finalizes handler-finalizes | status=3 stdout=buffered_and_flushed stdout=handler_ran
// case: handler-exits handler-exits | status=3 stdout=buffered_and_flushed stdout=handler_ran
// case: handler-ends-again handler-ends-again | status=3 stdout=buffered_and_flushed stdout=handler_ran
#include "check.h"
#include <unistd.h>

static long never, lock, held;
static const char *handled;

static void handler(void)
{
    printf("handler_ran\n");
    if (strcmp(handled, "handler-hangs") == 0)
        for (;;)
            sleep(1000);
    if (strcmp(handled, "handler-waits") == 0)
        shmem_barrier_all();
    if (strcmp(handled, "handler-finalizes") == 0)
        shmem_finalize();
    if (strcmp(handled, "handler-exits") == 0)
        exit(9);
    if (strcmp(handled, "handler-ends-again") == 0)
        shmem_global_exit(8);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *how = argv[1];
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), caller = npes - 1;
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (me != caller || npes == 1)
        printf("of_the_others\n"); /* in its buffer when the job ends */
    shmem_barrier_all();
    if (me == caller || strcmp(how, "all") == 0) {
        if (strcmp(how, "lock") == 0) {
            shmem_set_lock(&lock);
            for (int pe = 0; pe < npes; pe++)
                shmem_long_atomic_set(&held, 1, pe);
        }
        printf("buffered_and_flushed\n");
        handled = how;
        if (strncmp(how, "handler", 7) == 0)
            atexit(handler);
        shmem_global_exit(strcmp(how, "zero") == 0 ? 0 : 3);
    }
    if (strcmp(how, "compute") == 0)
        for (volatile long forever = 0;;)
            forever = forever + 1;
    if (strcmp(how, "wait") == 0)
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (strcmp(how, "barrier") == 0)
        shmem_barrier_all();
    if (strcmp(how, "lock") == 0) {
        shmem_long_wait_until(&held, SHMEM_CMP_EQ, 1);
        shmem_set_lock(&lock);
    }
    for (;;)
        sleep(1000);
}
