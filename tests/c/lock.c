// pes: 1 2 4 7 8 16
// device: no
/* Locks exclude, complete what was done under them, and are free again. */
#include "check.h"
#include <sched.h>

enum { ROUNDS = 120 };
static long lock, other_lock, *heap_lock; /* rule 13.1 */
static long counter, inside;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    heap_lock = shmem_calloc(1, sizeof *heap_lock);

    /* Mutual exclusion: a plain read, change and write of PE 0's counter. rule 13.3:
     * (rule 5.9) clear_lock completes them before the next holder. */
    for (int form = 0; form < 2; form++) {
        long *l = form ? heap_lock : &lock;
        counter = 0;
        shmem_barrier_all();
        for (int r = 0; r < ROUNDS; r++) {
            if (r % 3 == 2)
                while (shmem_test_lock(l) != 0) /* rule 13.2: 0 means acquired */
                    sched_yield(); /* it never waits itself: leave the CPU to the holder */
            else
                shmem_set_lock(l);
            CHECK_EQ(shmem_long_atomic_fetch_inc(&inside, 0), 0);
            long seen = shmem_long_g(&counter, 0);
            shmem_long_p(&counter, seen + 1, 0);
            shmem_long_atomic_add(&inside, -1, 0);
            shmem_clear_lock(l);
        }
        shmem_barrier_all();
        CHECK_EQ(shmem_long_g(&counter, 0), (long)npes * ROUNDS);
        shmem_barrier_all();
    }

    /* rule 13.2: busy is 1, while another one is free. */
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me != 0) {
        CHECK_EQ(shmem_test_lock(&lock), 1);
        shmem_set_lock(&other_lock);
        shmem_clear_lock(&other_lock);
    }
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == npes - 1) {
        CHECK_EQ(shmem_test_lock(&lock), 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    shmem_free(heap_lock);
    shmem_finalize();
    return 0;
}
