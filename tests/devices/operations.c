/* Every way to reach memory of a partition on a device. The processor can neither load from it nor store to it: what
 * is there is looked at with gets from the PE itself. */
#include "../c/check.h"
#include <shmemx.h>
#include <stdint.h>
#include <string.h>

enum { COUNT = 1000, MANY = 300000 };

static int me, npes, next, before;
static long *block, *other;          /* on the device */
static long host[MANY], mine[MANY];  /* symmetric and not, in the processor's memory */
static uint64_t flag;

static void put_own(long *to, long start, int n)
{
    for (int i = 0; i < n; i++)
        mine[i] = start + i;
    shmem_long_put(to, mine, n, me);
}

static long at(const long *address)
{
    return shmem_long_g(address, me);
}

static int holds(const long *address, long start, int n)
{
    shmem_long_get(mine, address, n, me);
    for (int i = 0; i < n; i++)
        if (mine[i] != start + i)
            return 0;
    return 1;
}

static void transfers(void)
{
    CHECK_EQ(shmemx_partition_of(block), 1);
    CHECK(shmem_ptr(block, me) == NULL && shmem_ptr(block, next) == NULL);
    CHECK(shmem_addr_accessible(block, next));
    CHECK(shmemx_device_ptr(block, me) == block && shmemx_device_ptr(host, next) == NULL);
    CHECK(shmemx_device_ptr(block, npes) == NULL && shmemx_device_ptr(block, -1) == NULL);
    CHECK(shmemx_device_ptr(mine, me) == NULL && shmemx_device_ptr(NULL, me) == NULL);
    CHECK(holds(block, 0, 0) && at(block) == 0 && at(block + COUNT - 1) == 0); /* from calloc */
    shmem_barrier_all();

    shmem_long_p(block, 100 + me, next);
    shmem_barrier_all();
    CHECK_EQ(at(block), 100 + before);
    CHECK_EQ(shmem_long_g(block, next), 100 + me);
    /* The peer's memory as this PE's driver knows it. */
    const long *theirs = shmemx_device_ptr(block, next);
    CHECK(theirs != NULL && (theirs != block || next == me));
    shmem_long_put(host, theirs, 1, me);
    CHECK_EQ(host[0], 100 + me);
    shmem_barrier_all();

    /* From private memory, from the heap's, from the device's; of all sizes. */
    for (int n = 1; n <= COUNT; n *= 3) {
        for (int i = 0; i < n; i++)
            mine[i] = me * 7L + i;
        shmem_long_put(block, mine, n, next);
        shmem_barrier_all();
        CHECK(holds(block, before * 7L, n));
        shmem_long_put(host, block, n, next);
        shmem_barrier_all();
        int two_before = (before + npes - 1) % npes;
        for (int i = 0; i < n; i++)
            CHECK_EQ(host[i], two_before * 7L + i);
        shmem_long_put_nbi(other, block, n, next);
        shmem_quiet();
        shmem_barrier_all();
        CHECK(holds(other, two_before * 7L, n));
        shmem_long_get(other, block, n, next);
        CHECK(holds(other, me * 7L, n));
        shmem_barrier_all();
        shmem_long_get_nbi(block, host, n, me);
        shmem_quiet();
        CHECK(holds(block, two_before * 7L, n));
        shmem_barrier_all();
    }

    /* Strides at both ends, elements and blocks. */
    put_own(block, 0, COUNT);
    put_own(other, 5000, COUNT);
    shmem_barrier_all();
    shmem_long_iput(block, other, 3, 2, 100, next);
    shmem_barrier_all();
    for (int i = 0; i < 300; i++)
        CHECK_EQ(at(block + i), i % 3 == 0 ? 5000 + i / 3 * 2 : i);
    shmem_barrier_all();
    shmem_long_iget(host, block, 1, 3, 100, next);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(host[i], 5000 + 2 * i);
    shmem_barrier_all();
    shmem_long_iget(block, other, 2, 1, 50, next);
    CHECK(at(block + 98) == 5049);
    shmem_long_iput(host, other, 1, 2, 50, me);
    CHECK_EQ(host[49], 5098);
    shmem_barrier_all();
    shmemx_partition_info_t info;
    CHECK(shmemx_partition_info(1, &info) == 0 && (info.caps & 8) == 0);
}

static void atomics(void)
{
    put_own(block, 0, 4);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_atomic_fetch_add(block, 0, next), shmem_long_atomic_fetch(block, next));
    shmem_barrier_all();
    for (int i = 0; i < 20; i++)
        shmem_long_atomic_add(block, me + 1, 0);
    shmem_long_atomic_inc(block + 1, 0);
    shmem_ulong_atomic_or((unsigned long *)block + 2, 1ul << (8 + me), 0);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(block, 0), 20L * npes * (npes + 1) / 2);
    CHECK_EQ(shmem_long_g(block + 1, 0), 1 + npes);
    CHECK_EQ(shmem_long_g(block + 2, 0), 2 | ((1L << npes) - 1) << 8);
    shmem_barrier_all();
    shmem_long_atomic_set(block, 7, next);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_atomic_swap(block, 8, next), 7);
    CHECK_EQ(shmem_long_atomic_compare_swap(block, 9, 1, next), 8);
    CHECK_EQ(shmem_long_atomic_compare_swap(block, 8, 9, next), 8);
    shmem_barrier_all();
    CHECK_EQ(at(block), 9);

    unsigned *words = (unsigned *)(block + 10);
    unsigned start[2] = {0xffffffff, 0xf0};
    shmem_putmem(words, start, sizeof start, me);
    shmem_barrier_all();
    CHECK_EQ(shmem_uint_atomic_fetch_inc(words, next), 0xffffffff);
    CHECK_EQ(shmem_uint_atomic_fetch_and(words + 1, 0x3c, next), 0xf0);
    CHECK_EQ(shmem_uint_atomic_fetch_xor(words + 1, 0xff, next), 0x30);
    CHECK_EQ(shmem_uint_g(words, next), 0);
    CHECK_EQ(shmem_uint_g(words + 1, next), 0xcf);
    float *real = (float *)(block + 12);
    shmem_float_atomic_set(real, 1.5f, next);
    CHECK(shmem_float_atomic_fetch(real, next) == 1.5f);
    shmem_barrier_all();
}

static void signals(void)
{
    uint64_t *there = (uint64_t *)(block + 20);
    shmem_uint64_p(there, 0, me);
    put_own(other, me, 100);
    shmem_barrier_all();
    shmem_long_put_signal(block + 100, other, 100, &flag, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 1);
    CHECK(holds(block + 100, before, 100));
    shmem_barrier_all();
    shmem_long_put_signal(block + 200, other, 100, there, 5, SHMEM_SIGNAL_SET, next);
    CHECK_EQ(shmem_signal_wait_until(there, SHMEM_CMP_GE, 5), 5);
    CHECK(holds(block + 200, before, 100));

    int *ints = (int *)(block + 30);
    int zeros[4] = {0};
    shmem_putmem(ints, zeros, sizeof zeros, me);
    shmem_barrier_all();
    CHECK(!shmem_int_test(ints, SHMEM_CMP_NE, 0));
    shmem_int_atomic_set(ints + 2, 3, next);
    CHECK_EQ(shmem_int_wait_until_any(ints, 4, NULL, SHMEM_CMP_EQ, 3), 2);
    CHECK(!shmem_int_test_all(ints, 4, NULL, SHMEM_CMP_EQ, 3));
    shmem_barrier_all();
    for (int i = 0; i < 4; i++)
        shmem_int_p(ints + i, 3, next);
    shmem_int_wait_until_all(ints, 4, NULL, SHMEM_CMP_EQ, 3);
    shmem_int_wait_until(ints, SHMEM_CMP_GT, 2);
    size_t found[4];
    int skip[4] = {0, 1, 0, 1}, values[4] = {3, 3, 4, 3};
    CHECK_EQ(shmem_int_test_any(ints, 4, skip, SHMEM_CMP_EQ, 3), 0);
    CHECK_EQ(shmem_int_test_some(ints, 4, found, skip, SHMEM_CMP_EQ, 3), 2);
    CHECK_EQ(shmem_int_wait_until_some(ints, 4, found, NULL, SHMEM_CMP_EQ, 3), 4);
    CHECK_EQ(shmem_int_wait_until_some_vector(ints, 4, found, NULL, SHMEM_CMP_EQ, values), 3);
    CHECK_EQ(shmem_int_test_all_vector(ints, 4, NULL, SHMEM_CMP_EQ, values), 0);
    CHECK_EQ(shmem_int_wait_until_any_vector(ints, 4, skip, SHMEM_CMP_NE, values), 2);
    shmem_barrier_all();
}

/* More than each member combines by itself: with a remainder, on the device and not, in place and not. */
static void long_reductions(void)
{
    const int n = 20011;
    long *large = shmemx_partition_malloc(MANY * sizeof(long), 1);
    CHECK(large != NULL);
    long *ends[3][2] = {{large + MANY / 2, large}, {host, large}, {large, large}};
    for (int i = 0; i < 3; i++) {
        put_own(large, me * 7, n);
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, ends[i][0], ends[i][1], n);
        CHECK(holds(ends[i][0], (npes - 1) * 7, n));
        shmem_barrier_all();
    }
    /* The processor gets the same result, bit for bit. */
    static double real[20011], there[20011], here[20011];
    double *on_device = (double *)large;
    for (int i = 0; i < n; i++)
        real[i] = 1.0 / (1 + i + me * 3);
    shmem_double_put(on_device, real, n, me);
    CHECK_EQ(shmemx_set_algorithm("reduce", "sliced"), 0);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, here, real, n);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, on_device, on_device, n);
    shmem_double_get(there, on_device, n, me);
    CHECK(memcmp(here, there, sizeof here) == 0);
    shmemx_set_algorithm("reduce", "auto");
    shmem_free(large);
}

static void collectives(void)
{
    put_own(block, me * 10, 10);
    for (int i = 0; i < 10; i++)
        host[i] = me * 10 + i;
    shmem_barrier_all();
    /* To the device from the device, to the processor from it, and the other way round. */
    long *ends[3][2] = {{other, block}, {host + 5000, block}, {other, host}};
    for (int i = 0; i < 3; i++) {
        long *dest = ends[i][0], *source = ends[i][1];
        int root = npes - 1, sum = npes * (npes - 1) / 2;
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 10, root);
        CHECK(holds(dest, root * 10, 10));
        shmem_barrier_all();
        shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 10);
        CHECK(holds(dest, 0, 10 * npes));
        shmem_barrier_all();
        shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, me % 2 == 0 ? 10 : 0);
        for (int pe = 0; pe < npes; pe += 2)
            CHECK(holds(dest + pe / 2 * 10, pe * 10, 10));
        shmem_barrier_all();
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 10);
        for (int k = 0; k < 10; k++)
            CHECK_EQ(at(dest + k), 10L * sum + k * npes);
        shmem_barrier_all();
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, 10);
        CHECK(holds(dest, (npes - 1) * 10, 10));
        shmem_barrier_all();
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, 10);
        CHECK_EQ(at(dest + 1), 10L * me * (me + 1) / 2 + me + 1);
        shmem_barrier_all();
        shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest, source, 10);
        CHECK_EQ(at(dest + 1), 10L * me * (me - 1) / 2 + me);
        shmem_barrier_all();
    }
    put_own(block, me * 100, 4 * npes);
    shmem_barrier_all();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, other, block, 4);
    for (int pe = 0; pe < npes; pe++)
        CHECK(holds(other + 4 * pe, pe * 100 + 4 * me, 4));
    shmem_barrier_all();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, other, block, 2, 1, 4);
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(at(other + 2 * (4 * pe + 3)), pe * 100 + 4 * me + 3);
    shmem_barrier_all();

    /* In place, more than is brought to the processor at a time. */
    long *large = shmemx_partition_malloc(MANY * 2 * sizeof(long), 1);
    CHECK(large != NULL);
    put_own(large, me, MANY);
    put_own(large + MANY, me, MANY);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, large, large, MANY * 2);
    for (int i = 0; i < 2 * MANY; i += 9973)
        CHECK_EQ(at(large + i), npes * (npes - 1L) / 2 + (long)npes * (i % MANY));
    shmem_free(large);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    next = (me + 1) % npes, before = (me + npes - 1) % npes;
    block = shmemx_partition_calloc(COUNT, sizeof(long), 1);
    other = shmemx_partition_malloc(COUNT * sizeof(long), 1);
    CHECK(block != NULL && other != NULL);
    transfers();
    atomics();
    signals();
    collectives();
    long_reductions();
    put_own(block, 77, COUNT);
    block = shmem_realloc(block, 3 * COUNT * sizeof(long));
    CHECK(block != NULL && holds(block, 77, COUNT));
    shmem_free(block);
    shmem_free(other);
    /* Memory that was in use is made zero where that is promised. */
    block = shmemx_partition_calloc(COUNT, sizeof(long), 1);
    for (int i = 0; i < COUNT; i += 99)
        CHECK_EQ(at(block + i), 0);
    shmem_finalize();

    /* Another lifetime. */
    shmem_init();
    block = shmemx_partition_calloc(COUNT, sizeof(long), 1);
    shmem_long_p(block, me, next);
    shmem_barrier_all();
    CHECK_EQ(at(block), before);
    shmem_finalize();
    return 0;
}
