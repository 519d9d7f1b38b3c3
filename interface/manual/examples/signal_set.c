/* PE 1 announces how far it is; PE 0 waits for step 3. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t step;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1)
        for (int i = 1; i <= 3; i++)
            shmem_signal_set(&step, i, 0);
    if (shmem_my_pe() == 0) {
        shmem_signal_wait_until(&step, SHMEM_CMP_GE, 3);
        printf("PE 1 has done step 3\n");
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./signal_set
 * PE 1 has done step 3 */
