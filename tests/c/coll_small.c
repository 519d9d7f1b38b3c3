// pes: 1 2 3 4 7 8
// env: SHMEM_SYMMETRIC_SIZE=16m
/* Collectives of a few bytes in a random order, on teams and on active sets, with roots everywhere and PEs
 * that come late: what travels with a step is read before it is written over. rule 10.6 */
#include "check.h"
#include <unistd.h>

enum { CALLS = 1500, WORDS = 7 };
static long source[MAX_PES], dest[MAX_PES * WORDS], psync[4][SHMEM_SYNC_SIZE];
static long work_array[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static long given(long call, int pe, long i) { return 1000003 * call + 100 * pe + i; }

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t common = check_seed(), own = common * 64 + (uint64_t)me + 1;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        for (int k = 0; k < 4; k++)
            psync[k][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (long call = 0; call < CALLS; call++) {
        int root = (int)check_random(&common, (uint64_t)npes);
        long n = 1 + (long)check_random(&common, WORDS);
        if (check_random(&own, 50) == 0)
            usleep((useconds_t)check_random(&own, 2000));
        for (int i = 0; i < MAX_PES; i++)
            source[i] = given(call, me, i);
        switch (check_random(&common, 7)) {
        case 0:
            shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, (size_t)n, root);
            for (long i = 0; i < n; i++)
                CHECK_EQ(dest[i], given(call, root, i));
            break;
        case 1:
            shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 1);
            for (int pe = 0; pe < npes; pe++)
                CHECK_EQ(dest[pe], given(call, pe, 0));
            break;
        case 2:
            shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)n);
            for (long i = 0; i < n; i++)
                CHECK_EQ(dest[i], given(call, npes - 1, i));
            break;
        case 3:
            shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
            for (int pe = 0; pe < npes; pe++)
                CHECK_EQ(dest[pe], given(call, pe, me));
            break;
        case 4:
            shmem_sync_all();
            break;
        case 5:
            shmem_broadcast64(dest, source, (size_t)n, root, 0, 0, npes, psync[call % 2]);
            for (long i = 0; i < n && me != root; i++)
                CHECK_EQ(dest[i], given(call, root, i));
            break;
        case 6:
            shmem_long_max_to_all(dest, source, (int)n, 0, 0, npes, work_array, psync[2 + call % 2]);
            for (long i = 0; i < n; i++)
                CHECK_EQ(dest[i], given(call, npes - 1, i));
            break;
        }
    }
    shmem_finalize();
    return 0;
}
