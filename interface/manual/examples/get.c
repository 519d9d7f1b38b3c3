/* PE 0 fetches an array of PE 1, in C11 without the type in the name. */
#include <shmem.h>
#include <stdio.h>

static int source[3];

int main(void)
{
    shmem_init();
    for (int i = 0; i < 3; i++)
        source[i] = 10 * shmem_my_pe() + i;
    shmem_barrier_all(); /* PE 1 has written its array */
    if (shmem_my_pe() == 0) {
        int dest[3];
        shmem_get(dest, source, 3, 1);
        printf("%d %d %d\n", dest[0], dest[1], dest[2]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./get
 * 10 11 12 */
