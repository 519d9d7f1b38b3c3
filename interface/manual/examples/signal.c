/* PE 0 stores two numbers on each PE, and one signal for both. The PEs add the product to a sum, and signal that they are done. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long first, second, sum;
static uint64_t start, done;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            shmem_long_p(&first, 10, pe);
            shmem_long_p(&second, pe, pe);
            shmem_fence(); /* data first, then the signal */
            shmem_signal_set(&start, 1, pe);
        }
    shmem_signal_wait_until(&start, SHMEM_CMP_EQ, 1);
    shmem_long_atomic_add(&sum, first * second, 0);
    shmem_signal_add(&done, 1, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%d are done, the sum is %ld\n",
               (int)shmem_signal_fetch(&done), sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./signal
 * 3 are done, the sum is 30 */
