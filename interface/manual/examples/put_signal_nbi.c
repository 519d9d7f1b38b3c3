/* All PEs send to PE 0, which waits until everything is there. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int from[8];
static uint64_t arrived;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_int_put_signal_nbi(&from[me], &me, 1, &arrived, 1,
                             SHMEM_SIGNAL_ADD, 0);
    if (me == 0) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, npes);
        printf("%d %d %d\n", from[0], from[1], from[2]);
    }
    shmem_quiet();
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./put_signal_nbi
 * 0 1 2 */
