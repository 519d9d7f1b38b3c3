// pes: 2 3 4 8
// env: SHMEM_LOCK_ORDER=arrival
/* rule 13.2: with SHMEM_LOCK_ORDER=arrival, who waits first is served first even where PEs outnumber
 * the CPUs. PE 0 releases the lock and takes it again at once while PE 1 is in line: PE 1's turn
 * comes first. The other PEs only wait, to keep the CPUs busy. */
#include "check.h"
#include <unistd.h>

enum { ROUNDS = 100 };

static long lock, turn, served, stop;

/* The PE at the end of the line, plus 1: see onenode's lock.rs. */
static unsigned last_in_line(void)
{
    return *(volatile unsigned long *)&lock >> 32 & 0xffff;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (long round = 1; me == 0 && round <= ROUNDS; round++) {
        shmem_set_lock(&lock);
        shmem_long_p(&turn, round, 1);
        while (last_in_line() != 2)
            usleep(20);
        shmem_clear_lock(&lock);
        shmem_set_lock(&lock);
        CHECK_EQ(shmem_long_atomic_fetch(&served, 0), round);
        shmem_clear_lock(&lock);
    }
    for (long round = 1; me == 1 && round <= ROUNDS; round++) {
        shmem_long_wait_until(&turn, SHMEM_CMP_EQ, round);
        shmem_set_lock(&lock);
        shmem_long_atomic_inc(&served, 0);
        shmem_clear_lock(&lock);
    }
    for (int pe = 2; me < 2 && pe < npes; pe++)
        shmem_long_atomic_inc(&stop, pe);
    if (me >= 2)
        shmem_long_wait_until(&stop, SHMEM_CMP_EQ, 2);
    shmem_finalize();
    return 0;
}
