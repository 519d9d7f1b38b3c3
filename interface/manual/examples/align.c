/* A counter on a cache line of its own. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    long *counter = shmem_align(64, 64);
    if (counter == NULL)
        shmem_global_exit(1);
    printf("%d\n", (int)((uintptr_t)counter % 64));
    shmem_free(counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./align
 * 0 */
