/* Two puts and one signal for both. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long first, second;
static uint64_t arrived;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_long_p(&first, 1, 1);
        shmem_long_p(&second, 2, 1);
        shmem_fence(); /* data first, then the signal */
        shmem_signal_add(&arrived, 1, 1);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%ld %ld\n", first, second);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./signal_add
 * 1 2 */
