// pes: 1 2 3 4 7 8
// case: plain plain
// case: debug debug | env=SHMEM_DEBUG=1
/* rule 10d.1 to 10d.7: the active-set routines over every set that fits into the
 * job, with work arrays used again and again. */
#include "check.h"

enum { N = 10, STRIDE = 3 };
/* rule 10d.3, rule 10d.4: enough for each routine, and never more is touched */
static struct { long before, words[SHMEM_SYNC_SIZE], after; } psync[2];
static struct { long words[SHMEM_BARRIER_SYNC_SIZE], after; } barrier_psync, sync_psync;
static int me, npes;

static int32_t source32[MAX_PES * N * STRIDE], dest32[MAX_PES * N * STRIDE];
static int64_t source64[MAX_PES * N * STRIDE], dest64[MAX_PES * N * STRIDE];

static int value(int member, int other, int i) { return member * 1000 + other * 50 + i + 1; }

#define RESET(BITS)                                                                       \
    for (int i = 0; i < MAX_PES * N * STRIDE; i++) {                                      \
        dest##BITS[i] = -1;                                                               \
        source##BITS[i] = -2;                                                             \
    }
/* rule 10d.6: elements of 4 or 8 bytes */
#define TEST(BITS)                                                                        \
    static void test_##BITS(int start, int log_stride, int size, int ordinal)             \
    {                                                                                     \
        long *ps = psync[0].words, *ps2 = psync[1].words;                                 \
        for (int root = 0; root < size; root++) {                                         \
            RESET(BITS)                                                                   \
            for (int i = 0; i < N; i++)                                                   \
                source##BITS[i] = value(ordinal, 0, i);                                   \
            shmem_sync(start, log_stride, size, sync_psync.words);                        \
            shmem_broadcast##BITS(dest##BITS, source##BITS, N, root, start, log_stride, size, \
                                  root % 2 ? ps : ps2);                                   \
            for (int i = 0; i < N; i++) /* rule 10b.1: the root's dest is left alone */   \
                CHECK_EQ(dest##BITS[i], ordinal == root ? -1 : value(root, 0, i));        \
            shmem_barrier(start, log_stride, size, barrier_psync.words);                  \
        }                                                                                 \
        RESET(BITS)                                                                       \
        for (int i = 0; i < N; i++)                                                       \
            source##BITS[i] = value(ordinal, 0, i);                                       \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
        shmem_collect##BITS(dest##BITS, source##BITS, (size_t)(ordinal % 3), start,       \
                            log_stride, size, ps);                                        \
        for (int o = 0, at = 0; o < size; o++)                                            \
            for (int i = 0; i < o % 3; i++)                                               \
                CHECK_EQ(dest##BITS[at++], value(o, 0, i));                               \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
        shmem_fcollect##BITS(dest##BITS, source##BITS, N, start, log_stride, size, ps2);  \
        for (int i = 0; i < N * size; i++)                                                \
            CHECK_EQ(dest##BITS[i], value(i / N, 0, i % N));                              \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
        RESET(BITS)                                                                       \
        for (int i = 0; i < N * size; i++)                                                \
            source##BITS[i] = value(ordinal, i / N, i % N);                               \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
        shmem_alltoall##BITS(dest##BITS, source##BITS, N, start, log_stride, size, ps);   \
        for (int i = 0; i < N * size; i++)                                                \
            CHECK_EQ(dest##BITS[i], value(i / N, ordinal, i % N));                        \
        RESET(BITS)                                                                       \
        for (int i = 0; i < N * size; i++)                                                \
            source##BITS[i * 2] = value(ordinal, i / N, i % N);                           \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
        shmem_alltoalls##BITS(dest##BITS, source##BITS, 3, 2, N, start, log_stride, size, ps2); \
        for (int i = 0; i < MAX_PES * N * STRIDE; i++)                                    \
            CHECK_EQ(dest##BITS[i], i % 3 == 0 && i / 3 < N * size                        \
                         ? value(i / 3 / N, ordinal, i / 3 % N) : -1);                    \
        shmem_barrier(start, log_stride, size, barrier_psync.words);                      \
    }
TEST(32)
TEST(64)

/* rule 10d.2: only members call. Sets with different members follow each other, so
 * pSync must be the same everywhere again before the next: a barrier of all sees to it. */
static void over_all_sets(void (*test)(int, int, int, int))
{
    for (int log_stride = 0; log_stride < 3; log_stride++)
        for (int start = 0; start < npes; start++)
            for (int size = 1; start + ((size - 1) << log_stride) < npes; size++) {
                int distance = me - start, stride = 1 << log_stride;
                if (distance >= 0 && distance % stride == 0 && distance / stride < size)
                    test(start, log_stride, size, distance / stride);
                shmem_barrier_all();
            }
}

static void only_barrier(int start, int log_stride, int size, int ordinal)
{
    static long count;
    (void)ordinal;
    shmem_long_atomic_inc(&count, start);
    /* rule 10a.4, rule 10d.3: an identical set may use its array again at once */
    shmem_barrier(start, log_stride, size, barrier_psync.words);
    CHECK(shmem_long_g(&count, start) % size == 0);
    for (int r = 0; r < 10; r++) {
        shmem_barrier(start, log_stride, size, barrier_psync.words);
        shmem_sync(start, log_stride, size, sync_psync.words);
    }
    if (me == start)
        count = 0;
    shmem_barrier(start, log_stride, size, barrier_psync.words);
}

static void lifetime(int level)
{
    int provided;
    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    over_all_sets(only_barrier);
    over_all_sets(test_32);
    over_all_sets(test_64);
    /* rule 10d.3: restored */
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
        CHECK_EQ(psync[0].words[i], SHMEM_SYNC_VALUE);
        CHECK_EQ(psync[1].words[i], SHMEM_SYNC_VALUE);
    }
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) {
        CHECK_EQ(barrier_psync.words[i], SHMEM_SYNC_VALUE);
        CHECK_EQ(sync_psync.words[i], SHMEM_SYNC_VALUE);
    }
    CHECK_EQ(psync[0].before + psync[0].after + psync[1].before + psync[1].after, 4 * 4711);
    CHECK_EQ(barrier_psync.after + sync_psync.after, 2 * 4711);
    shmem_finalize();
}

int main(void)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[0].words[i] = psync[1].words[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        barrier_psync.words[i] = sync_psync.words[i] = SHMEM_SYNC_VALUE;
    psync[0].before = psync[0].after = psync[1].before = psync[1].after = 4711;
    barrier_psync.after = sync_psync.after = 4711;
    /* The set of all PEs may be treated differently where a PE can be in two calls at once. */
    lifetime(SHMEM_THREAD_SINGLE);
    lifetime(me == npes - 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE);
    lifetime(SHMEM_THREAD_SERIALIZED);
    return 0;
}
