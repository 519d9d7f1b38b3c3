// pes: 2 4 7 8
/* rule 13.2: who waits first is served first. PE 0 holds the lock while the others
 * line up one after the other; each then notes when it was served. */
#include "check.h"
#include <unistd.h>

static long lock, order, served, lined_up, before;

/* Gives the PE that has announced itself time to line up. On a busy machine it may take longer than that: here the
 * lock's word on PE 0 shows that it has, as that is then another one than before. */
static void give_time(int me)
{
    do
        usleep(50000);
    while (me != 1 && shmem_long_atomic_fetch(&lock, 0) == before);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int round = 0; round < 3; round++) {
        lined_up = order = 0;
        if (me == 0)
            shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me != 0) {
            /* Later PEs start later: the earlier one announces itself, then lines up. */
            shmem_long_wait_until(&lined_up, SHMEM_CMP_EQ, me - 1);
            give_time(me);
            shmem_long_p(&before, shmem_long_atomic_fetch(&lock, 0), (me + 1) % npes);
            for (int pe = me + 2; pe < npes; pe++)
                shmem_long_atomic_set(&lined_up, me, pe);
            /* Or the next one's might arrive before these. */
            shmem_quiet();
            if (me + 1 < npes)
                shmem_long_atomic_set(&lined_up, me, me + 1);
            if (me == npes - 1)
                shmem_long_atomic_set(&lined_up, 1, 0);
            shmem_set_lock(&lock);
            served = shmem_long_atomic_fetch_inc(&order, 0);
            shmem_clear_lock(&lock);
            CHECK_EQ(served, me - 1);
        } else {
            shmem_long_wait_until(&lined_up, SHMEM_CMP_EQ, 1);
            give_time(me);
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
