/* PE 0 writes two blocks of two elements, four elements apart, on PE 1. */
#include <shmem.h>
#include <stdio.h>

static int dest[8];

int main(void)
{
    int source[4] = {1, 2, 3, 4};
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_int_ibput(dest, source, 4, 2, 2, 2, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        for (int i = 0; i < 8; i++)
            printf("%d%c", dest[i], i < 7 ? ' ' : '\n');
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./ibput
 * 1 2 0 0 3 4 0 0 */
