/* PE 0 says how many elements a PE has at least; PE i has i more. All PEs get to know how many the others have, where their own elements begin and end, and all elements. */
#include <shmem.h>
#include <stdio.h>

static int least, base, count, begin, end, counts[8], own[8], all[16];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0)
        least = 1;
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &base, &least, 1, 0);
    count = base + me;
    for (int i = 0; i < count; i++)
        own[i] = 10 * me + i;
    shmem_int_fcollect(SHMEM_TEAM_WORLD, counts, &count, 1);
    shmem_int_sum_exscan(SHMEM_TEAM_WORLD, &begin, &count, 1);
    shmem_int_sum_inscan(SHMEM_TEAM_WORLD, &end, &count, 1);
    shmem_int_collect(SHMEM_TEAM_WORLD, all, own, count);
    printf("PE %d: %d + %d: %d %d %d, own %d to %d\n", me, counts[0],
           counts[1], all[0], all[1], all[2], begin, end - 1);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./collect
 * PE 0: 1 + 2: 0 10 11, own 0 to 0
 * PE 1: 1 + 2: 0 10 11, own 1 to 2 */
