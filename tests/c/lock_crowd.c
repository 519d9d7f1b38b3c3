// pes: 2 4 8 16
/* Where PEs share CPUs, who runs may take a free lock before those who wait for it, but nobody
 * waits for ever: everyone goes on taking the lock until all have had it many times. */
#include "check.h"

static long lock, counter, had, contented;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long taken = 0;
    while (shmem_long_g(&contented, 0) < npes) {
        shmem_set_lock(&lock);
        /* Not one atomic operation: only the lock keeps it whole. */
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
        if (++taken == 50)
            shmem_long_atomic_inc(&contented, 0);
    }
    shmem_long_atomic_add(&had, taken, 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(counter, had);
    shmem_finalize();
    return 0;
}
