/* PE 0 sends an array to all others. Each waits until it is there, and sends a sum back. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static double data[3], sums[8];
static uint64_t arrived, answers;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0) {
        double source[3] = {0.5, 1.5, 2.5};
        for (int pe = 1; pe < npes; pe++)
            shmem_double_put_signal_nbi(data, source, 3, &arrived, 1,
                                        SHMEM_SIGNAL_SET, pe);
        shmem_quiet(); /* from here on source may change */
        shmem_signal_wait_until(&answers, SHMEM_CMP_EQ, npes - 1);
        printf("%g %g\n", sums[1], sums[2]);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        double sum = me * (data[0] + data[1] + data[2]);
        shmem_double_put_signal(&sums[me], &sum, 1, &answers, 1,
                                SHMEM_SIGNAL_ADD, 0);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./put_signal
 * 4.5 9 */
