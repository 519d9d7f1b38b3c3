// Memory from partitions: allocated, reached in every way, freed, asked about.
// pes: 1 2 4
// device: no
// variants: all
// env: SHMEM_SYMMETRIC_PARTITION1=8M:KIND=NORMALMEM SMA_SYMMETRIC_PARTITION3=1M:POLICY=I
// case: plain | env=SHMEM_SYMMETRIC_SIZE=4M
// case: debug | env=SHMEM_DEBUG=1 env=SHMEM_SYMMETRIC_SIZE=4M
// case: stats | env=SHMEM_STATS=1 env=SHMEM_SYMMETRIC_SIZE=4M
// case: info | env=SHMEM_INFO=1 stdout= stderr=NORMALMEM env=SHMEM_SYMMETRIC_SIZE=4M
#include "check.h"
#include <shmemx.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 100000 };

static long word;

/// Every way to reach memory of a partition.
static void reach(long *block, int me, int npes)
{
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    shmem_long_p(block, 100 + me, next);
    shmem_barrier_all();
    CHECK(*block == 100 + before);
    CHECK(shmem_long_g(block, next) == 100 + me);
    shmem_barrier_all();
    CHECK(shmem_long_atomic_fetch_add(block, 1, next) == 100 + me);
    shmem_barrier_all();
    CHECK(*block == 101 + before);
    long *there = shmem_ptr(block, next);
    /* Null where the data segment's is, too: on another node. */
    CHECK((there != NULL) == (shmem_ptr(&word, next) != NULL));
    CHECK(there == NULL || *there == 101 + me);
    CHECK(shmem_addr_accessible(block, next));
    shmem_barrier_all();

    static long mine[MANY];
    for (int i = 0; i < MANY; i++)
        mine[i] = me * 7L + i;
    shmem_long_put(block, mine, MANY, next);
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        CHECK(block[i] == before * 7L + i);
    memset(mine, 0, sizeof mine);
    shmem_long_get(mine, block, MANY, next);
    for (int i = 0; i < MANY; i++)
        CHECK(mine[i] == me * 7L + i);
    shmem_barrier_all();
    shmem_long_iput(block, mine, 3, 1, MANY / 3, next);
    shmem_barrier_all();
    CHECK(block[3] == before * 7L + 1);
    shmem_barrier_all();

    // Both ends of a collective, and one of them.
    block[0] = me + 1;
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block + 1, block, 1);
    CHECK(block[1] == npes * (npes + 1L) / 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word, block, 1);
    CHECK(word == npes * (npes + 1L) / 2);
    shmem_barrier_all();
}

static void ask(void *block)
{
    shmemx_partition_info_t info;
    CHECK(shmemx_partition_info(1, &info) == 0);
    CHECK(info.id == 1 && info.device == -1 && info.size == 8 << 20);
    CHECK(strcmp(info.kind, "NORMALMEM") == 0);
    CHECK(info.free < info.size && info.largest <= info.free);
    CHECK(info.caps & SHMEMX_PARTITION_LOAD_STORE);
    CHECK(shmemx_partition_info(2, &info) == 1);
    CHECK(shmemx_partition_info(-1, &info) == 1);
    CHECK(shmemx_partition_of(block) == 1);
    CHECK(shmemx_partition_of(&word) == -1);
    CHECK(shmemx_partition_of(&info) == -2);
}

/// A child of fork has its own copy.
static void forked(long *block)
{
    *block = 1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int inherited = *block == 1;
        *block = 2;
        _exit(inherited ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(*block == 1);
    shmem_barrier_all();
}

static void lifetime(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *block = shmemx_partition_malloc(MANY * sizeof(long), 1);
    CHECK(block != NULL);
    CHECK(block[0] == 0 && block[MANY - 1] == 0);
    shmem_barrier_all();
    reach(block, me, npes);
    ask(block);
    forked(block);

    long *grown = shmem_realloc(block, 2 * MANY * sizeof(long));
    CHECK(grown != NULL && shmemx_partition_of(grown) == 1 && grown[3] != 0);
    shmem_barrier_all();
    shmem_free(grown);

    // Full, as on every PE; a hint falls back to the heap.
    CHECK(shmemx_partition_malloc(9 << 20, 1) == NULL);
    CHECK(shmemx_partition_malloc(1, 2) == NULL);
    CHECK(shmemx_partition_malloc(0, 1) == NULL);
    void *hinted = shmem_malloc_with_hints(64, SHMEMX_MALLOC_PARTITION(3));
    CHECK(shmemx_partition_of(hinted) == 3);
    void *large = shmem_malloc_with_hints(2 << 20, SHMEMX_MALLOC_PARTITION(3));
    CHECK(large != NULL && shmemx_partition_of(large) == -1);
    void *nowhere = shmem_malloc_with_hints(64, SHMEMX_MALLOC_PARTITION(9));
    CHECK(nowhere != NULL && shmemx_partition_of(nowhere) == -1);
    shmem_free(hinted);
    shmem_free(large);
    shmem_free(nowhere);

    char *aligned = shmem_partition_align(4096, 100, 1);
    CHECK((uintptr_t)aligned % 4096 == 0 && shmemx_partition_of(aligned) == 1);
    memset(aligned, 1, 100);
    shmem_partition_free(aligned);
    char *zeros = shmem_partition_calloc(100, 1, 1);
    for (int i = 0; i < 100; i++)
        CHECK(zeros[i] == 0);
    shmem_barrier_all();
    shmem_partition_free(zeros);

    // What all take in the same order is symmetric.
    long *taken[3];
    for (int i = 0; i < 3; i++)
        CHECK((taken[i] = shmemx_partition_take(8 << (8 * i), 1)) != NULL);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        shmem_long_p(taken[i], me * 10 + i, (me + 1) % npes);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        CHECK(*taken[i] == (me + npes - 1) % npes * 10 + i);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        shmemx_partition_give(taken[i]);
    shmemx_partition_give(NULL);
    shmemx_partition_info_t info;
    CHECK(shmemx_partition_info(1, &info) == 0 && info.free == info.size);
    shmem_finalize();
}

int main(void)
{
    // Each lifetime starts with zeros.
    lifetime();
    lifetime();
    return 0;
}
