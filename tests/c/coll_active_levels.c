// pes: 1 2 3 4 7
/* rule 10d.1: active sets of all PEs, whose thread levels differ from one lifetime of the library to
 * the next. rule 2.2 */
#include "check.h"

static long psync[2][SHMEM_SYNC_SIZE], sum, addend, work_array[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int64_t source, dest[MAX_PES];

static void lifetime(int number, int last_is_multiple)
{
    int provided, me, npes;
    /* Who has which level is known after initialisation only: all ask for one, or the last for more. */
    shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    shmem_finalize();
    int wanted = last_is_multiple && me == npes - 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_FUNNELED;
    CHECK_EQ(shmem_init_thread(wanted, &provided), 0);
    CHECK_EQ(provided, wanted);
    for (int round = 0; round < 20; round++) {
        int root = (round + number) % npes;
        source = 100 * number + 10 * round + me;
        shmem_broadcast64(dest, &source, 1, root, 0, 0, npes, psync[0]);
        if (me != root)
            CHECK_EQ(dest[0], 100 * number + 10 * round + root);
        shmem_barrier(0, 0, npes, psync[1]);
        shmem_fcollect64(dest, &source, 1, 0, 0, npes, psync[0]);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(dest[pe], 100 * number + 10 * round + pe);
        addend = me + round;
        shmem_long_sum_to_all(&sum, &addend, 1, 0, 0, npes, work_array, psync[1]);
        CHECK_EQ(sum, (long)npes * (npes - 1) / 2 + (long)round * npes);
        shmem_sync_all();
    }
    shmem_finalize();
}

int main(void)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = SHMEM_SYNC_VALUE;
    for (int number = 0; number < 4; number++)
        lifetime(number, number % 2);
    return 0;
}
