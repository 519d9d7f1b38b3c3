/* PE 1 gives an array to all PEs, itself included. */
#include <shmem.h>
#include <stdio.h>

static int source[2], dest[2];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1) {
        source[0] = 5;
        source[1] = 6;
    }
    shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 1);
    printf("PE %d: %d %d\n", shmem_my_pe(), dest[0], dest[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./broadcast
 * PE 0: 5 6
 * PE 1: 5 6
 * PE 2: 5 6 */
