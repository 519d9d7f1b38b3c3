/* PE 0 copies an array to PE 1, once typed and once as bytes. */
#include <shmem.h>
#include <stdio.h>

static long dest[4];

int main(void)
{
    long source[4] = {1, 2, 3, 4};
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_long_put(dest, source, 2, 1);
        shmem_putmem(&dest[2], &source[2], 2 * sizeof *dest, 1);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%ld %ld %ld %ld\n", dest[0], dest[1], dest[2], dest[3]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./put
 * 1 2 3 4 */
