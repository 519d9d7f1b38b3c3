/* PE i has i elements. All PEs get all elements. */
#include <shmem.h>
#include <stdio.h>

static int source[3], dest[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < me; i++)
        source[i] = me;
    shmem_int_collect(SHMEM_TEAM_WORLD, dest, source, me);
    printf("PE %d: %d %d %d\n", me, dest[0], dest[1], dest[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./collect
 * PE 0: 1 2 2
 * PE 1: 1 2 2
 * PE 2: 1 2 2 */
