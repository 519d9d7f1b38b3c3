// pes: 1 2 4 7
// partition: no
// env: SHMEM_SYMMETRIC_SIZE=4m
/* rule 3.3, rule 3.12: the heap holds what was asked for, then says null on every
 * PE, and is all there again after everything was freed. */
#include "check.h"

enum { BLOCK = 64 << 10, MOST = 4096 };

int main(void)
{
    shmem_init();
    static long count, counts[MAX_PES];
    static void *blocks[MOST];
    for (int round = 0; round < 3; round++) {
        count = 0;
        while (count < MOST && (blocks[count] = shmem_malloc(BLOCK)) != NULL)
            memset(blocks[count++], round + 1, BLOCK);
        /* Room for some bookkeeping is granted, not more than a quarter. */
        CHECK(count >= (4 << 20) / BLOCK * 3 / 4);
        CHECK(count < MOST);
        shmem_long_fcollect(SHMEM_TEAM_WORLD, counts, &count, 1);
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            CHECK_EQ(counts[pe], count);
        for (long i = 0; i < count; i++)
            for (int j = 0; j < BLOCK; j += 1000)
                CHECK_EQ(((char *)blocks[i])[j], round + 1);
        CHECK(shmem_malloc((size_t)1 << 62) == NULL);
        CHECK(shmem_malloc(SIZE_MAX) == NULL);
        CHECK(shmem_align(4096, SIZE_MAX - 10) == NULL);
        for (int third = 0; third < 3; third++) /* out of order: holes must join up again */
            for (long i = third; i < count; i += 3)
                shmem_free(blocks[i]);
        void *whole = shmem_malloc((4 << 20) / 4 * 3);
        CHECK(whole != NULL);
        shmem_free(whole);
    }
    shmem_finalize();
    return 0;
}
