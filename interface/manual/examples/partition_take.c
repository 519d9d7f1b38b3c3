/* PE 0 alone takes memory. It is not symmetric, but it can be the source of a put. */
#include <shmemx.h>
#include <stdio.h>

static long word;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        long *own = shmemx_partition_take(sizeof *own, 1);
        if (own == NULL)
            shmem_global_exit(1);
        *own = 9;
        shmem_long_put(&word, own, 1, 1);
        shmemx_partition_give(own);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%ld\n", word);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M oshrun -n 2 ./partition_take
 * 9 */
