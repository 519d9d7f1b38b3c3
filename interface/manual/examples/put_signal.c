/* PE 0 sends an array; PE 1 waits until it is there. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static double data[3];
static uint64_t arrived;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        double source[3] = {0.5, 1.5, 2.5};
        shmem_double_put_signal(data, source, 3, &arrived, 1,
                                SHMEM_SIGNAL_SET, 1);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%g %g %g\n", data[0], data[1], data[2]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./put_signal
 * 0.5 1.5 2.5 */
