/* Tells the next PE where the block is. If addresses are equal, its own is there. */
#include <shmemx.h>
#include <stdio.h>

static long *told;

int main(void)
{
    shmem_init();
    long *block = shmem_calloc(1, sizeof *block);
    if (block == NULL)
        shmem_global_exit(1);
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_putmem(&told, &block, sizeof block, next);
    shmem_barrier_all();
    if (shmemx_equal_addresses())
        puts(told == block ? "the same address" : "another address");
    shmem_free(block);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./equal_addresses
 * the same address
 * the same address */
