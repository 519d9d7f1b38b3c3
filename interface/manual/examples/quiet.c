/* PE 0 writes to PE 2, then tells PE 1 to look there. The order matters between different PEs, so a fence is not enough. */
#include <shmem.h>
#include <stdio.h>

static int data, flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&data, 42, 2);
        shmem_quiet();
        shmem_int_atomic_set(&flag, 1, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", shmem_int_g(&data, 2));
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./quiet
 * 42 */
