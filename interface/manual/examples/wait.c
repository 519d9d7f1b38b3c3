/* PE 1 waits until a variable is no longer 0. */
#include <shmem.h>
#include <stdio.h>

static long flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_long_atomic_set(&flag, 5, 1);
    } else {
        shmem_long_wait(&flag, 0);
        printf("%ld\n", flag);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./wait
 * 5 */
