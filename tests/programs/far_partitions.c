/* What PEs do to each other's partitions, on their own node and on others: those of numbers 1, 2
 * and 4, as far as there are any. Number 2 keeps what it has between jobs. */
#include "../c/check.h"
#include <shmemx.h>

enum { MANY = 40000, ROUNDS = 500 };

static long mine[MANY], word;

static void transfers(long *block, int me, int npes)
{
    for (int step = 1; step <= npes; step++) {
        int to = (me + step) % npes, from = (me + npes - step) % npes;
        for (int i = 0; i < MANY; i++)
            mine[i] = me * 1000003L + i + step;
        shmem_long_put_nbi(block, mine, MANY, to);
        shmem_barrier_all();
        for (int i = 0; i < MANY; i++)
            CHECK(block[i] == from * 1000003L + i + step);
        memset(mine, 0, sizeof mine);
        shmem_long_get(mine, block + 1, MANY - 1, to);
        for (int i = 0; i + 1 < MANY; i++)
            CHECK(mine[i] == me * 1000003L + i + 1 + step);
        shmem_barrier_all();
        shmem_long_iput(block, mine, 3, 1, 1000, to);
        shmem_long_p(block + MANY - 1, 5 + me, to);
        shmem_barrier_all();
        CHECK(block[3] == from * 1000003L + 2 + step && block[MANY - 1] == 5 + from);
        CHECK(shmem_long_g(block + MANY - 1, to) == 5 + me);
        shmem_barrier_all();
    }
}

/* PEs of all nodes count on the same words; what they count is exact. */
static void atomics(long *block, int me, int npes)
{
    block[0] = block[1] = 0;
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_long_atomic_fetch_add(&block[0], 1, 0);
        shmem_long_atomic_inc(&block[1], npes - 1);
    }
    shmem_barrier_all();
    CHECK(shmem_long_atomic_fetch(&block[0], 0) == (long)ROUNDS * npes);
    CHECK(shmem_long_atomic_fetch(&block[1], npes - 1) == (long)ROUNDS * npes);
    shmem_barrier_all();
    if (me == 1) {
        CHECK_EQ(shmem_long_atomic_compare_swap(&block[0], 1, 2, 0), (long)ROUNDS * npes);
        CHECK_EQ(shmem_long_atomic_swap(&block[0], 9, 0), (long)ROUNDS * npes);
        CHECK_EQ(shmem_long_g(&block[0], 0), 9);
    }
    shmem_barrier_all();
}

static void signals_and_locks(long *block, int me, int npes)
{
    uint64_t *signal = (uint64_t *)(block + 8);
    long *lock = block + 9;
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    *signal = 0;
    *lock = block[10] = 0;
    shmem_barrier_all();
    mine[0] = 70 + me;
    shmem_long_put_signal(block + 20, mine, 1, signal, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
    CHECK(block[20] == 70 + before);
    for (int i = 0; i < 20; i++) {
        shmem_set_lock(lock);
        shmem_long_p(block + 10, shmem_long_g(block + 10, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(block + 10, 0) == 20L * npes);
    shmem_barrier_all();
}

static void collectives(long *block, int me, int npes)
{
    for (int i = 0; i < 100; i++)
        block[i] = me + i;
    shmem_barrier_all();
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block + 100, block, 100) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(block[100 + i] == npes * (npes - 1L) / 2 + (long)npes * i);
    CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &word, block, 1) == 0);
    CHECK(word == npes - 1);
    CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, block + 200, block, 80, npes - 1) == 0);
    CHECK(block[200] == npes - 1);
    CHECK(shmem_long_fcollect(SHMEM_TEAM_WORLD, block + 300, block, 2) == 0);
    for (int pe = 0; pe < npes; pe++)
        CHECK(block[300 + 2 * pe] == pe && block[301 + 2 * pe] == pe + 1);
    CHECK(shmem_long_alltoall(SHMEM_TEAM_WORLD, block + 400, block, 1) == 0);
    for (int pe = 0; pe < npes; pe++)
        CHECK(block[400 + pe] == pe + me);
    shmem_barrier_all();
}

/* The whole partition, to its last byte. */
static void all_of(int id, int me, int npes)
{
    shmemx_partition_info_t info;
    CHECK(shmemx_partition_info(id, &info) == 0);
    char *block = shmemx_partition_malloc(info.largest, id);
    CHECK(block != NULL);
    shmem_char_p(block + info.largest - 1, (char)(me + 1), (me + 1) % npes);
    shmem_barrier_all();
    CHECK(block[info.largest - 1] == (char)((me + npes - 1) % npes + 1));
    shmem_barrier_all();
    shmem_free(block);
}

static void use(int id, int lifetime)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *block = shmemx_partition_malloc(MANY * sizeof(long), id);
    if (block == NULL)
        return;
    if (id != 2)
        CHECK(block[0] == 0 && block[MANY - 1] == 0);
    else if (lifetime > 0)
        CHECK(block[30] == (me + npes - 1) % npes + 5000L);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK((shmem_ptr(block, pe) == NULL) == (shmem_ptr(&word, pe) == NULL));
    transfers(block, me, npes);
    atomics(block, me, npes);
    signals_and_locks(block, me, npes);
    collectives(block, me, npes);
    shmem_long_p(block + 30, me + 5000, (me + 1) % npes);
    shmem_barrier_all();
    shmem_free(block);
    if (id != 2)
        all_of(id, me, npes);
}

int main(void)
{
    for (int lifetime = 0; lifetime < 2; lifetime++) {
        shmem_init();
        for (int id = 1; id <= 4; id++)
            use(id, lifetime);
        shmem_finalize();
    }
    return 0;
}
