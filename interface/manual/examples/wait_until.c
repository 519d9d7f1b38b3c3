/* PE 1 waits for a value that PE 0 stores. */
#include <shmem.h>
#include <stdio.h>

static int flag, data;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&data, 42, 1);
        shmem_fence(); /* data first, then the flag */
        shmem_int_atomic_set(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0);
        printf("%d\n", data);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./wait_until
 * 42 */
