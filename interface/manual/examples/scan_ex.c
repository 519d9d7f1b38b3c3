/* Where the elements of each PE begin in a common array, if PE i has i + 1 of them. */
#include <shmem.h>
#include <stdio.h>

static long source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = me + 1;
    shmem_long_sum_exscan(SHMEM_TEAM_WORLD, &dest, &source, 1);
    printf("PE %d: %ld\n", me, dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./scan_ex
 * PE 0: 0
 * PE 1: 1
 * PE 2: 3 */
