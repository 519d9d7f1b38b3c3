/* Running sums: PE i gets the sum of the numbers of PEs 0 to i. */
#include <shmem.h>
#include <stdio.h>

static long source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = me + 1;
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &dest, &source, 1);
    printf("PE %d: %ld\n", me, dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./scan_in
 * PE 0: 1
 * PE 1: 3
 * PE 2: 6 */
