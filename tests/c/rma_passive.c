// pes: 2 4 7
/* rule 0.11, rule 0.12: operations on a PE make progress while it makes no library
 * calls, and are not put off until it does. */
#include "check.h"

static volatile long seen;
static long flag;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0) {
        for (int pe = 1; pe < npes; pe++) {
            shmem_long_p(&flag, 7, pe);
            shmem_quiet();
            /* The target answers without a call of the library, by a plain store. */
            while (shmem_long_g((const long *)(uintptr_t)&seen, pe) != 8)
                ;
            shmem_long_atomic_add(&flag, 1, pe);
        }
    } else {
        volatile long *mine = &flag;
        while (*mine != 7)
            ;
        seen = 8;
        while (*mine != 8)
            ;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
