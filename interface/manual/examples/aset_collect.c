/* PE 0 says how many elements a PE has at least; PE i has i more. All get all elements. Then the PEs exchange a number with each other, and once more every second one. */
#include <shmem.h>
#include <stdio.h>

static long bcast[SHMEM_BCAST_SYNC_SIZE];
static long collect[2][SHMEM_COLLECT_SYNC_SIZE];
static long alltoall[SHMEM_ALLTOALL_SYNC_SIZE];
static long alltoalls[SHMEM_ALLTOALLS_SYNC_SIZE];
static int least = 1, base, count, counts[8], own[16], all[16];

static void initialize(long *pSync, int size)
{
    for (int i = 0; i < size; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
}

int main(void)
{
    shmem_init();
    initialize(bcast, SHMEM_BCAST_SYNC_SIZE);
    initialize(collect[0], SHMEM_COLLECT_SYNC_SIZE);
    initialize(collect[1], SHMEM_COLLECT_SYNC_SIZE);
    initialize(alltoall, SHMEM_ALLTOALL_SYNC_SIZE);
    initialize(alltoalls, SHMEM_ALLTOALLS_SYNC_SIZE);
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_broadcast32(&base, &least, 1, 0, 0, 0, npes, bcast);
    count = me == 0 ? least : base + me; /* the root's dest stays */
    for (int i = 0; i < 16; i++)
        own[i] = 10 * me + i;
    shmem_fcollect32(counts, &count, 1, 0, 0, npes, collect[0]);
    shmem_collect32(all, own, count, 0, 0, npes, collect[1]);
    printf("PE %d: %d + %d: %d %d %d\n", me, counts[0], counts[1],
           all[0], all[1], all[2]);
    shmem_alltoall32(counts, own, 1, 0, 0, npes, alltoall);
    shmem_alltoalls32(all, own, 1, 2, 1, 0, 0, npes, alltoalls);
    printf("PE %d: %d %d, %d %d\n", me, counts[0], counts[1], all[0],
           all[1]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./aset_collect
 * PE 0: 1 + 2: 0 10 11
 * PE 1: 1 + 2: 0 10 11
 * PE 0: 0 10, 0 10
 * PE 1: 1 11, 2 12 */
