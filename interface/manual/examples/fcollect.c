/* All PEs get the numbers of all PEs. */
#include <shmem.h>
#include <stdio.h>

static int source, dest[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = me * me;
    shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, &source, 1);
    printf("PE %d: %d %d %d\n", me, dest[0], dest[1], dest[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./fcollect
 * PE 0: 0 1 4
 * PE 1: 0 1 4
 * PE 2: 0 1 4 */
