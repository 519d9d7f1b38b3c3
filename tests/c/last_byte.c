// pes: 1 2 4
// env: SHMEM_SYMMETRIC_SIZE=1m
// case: plain
// case: debug | env=SHMEM_DEBUG=1
// case: counted | env=SHMEM_STATS=1
/* What ends with the last byte of a segment is legal, and so are no elements, wherever they are. rule 0.1 */
#include "check.h"
#include <sys/mman.h>

#define BYTES 4096

static long sync[2][SHMEM_SYNC_SIZE];
static uint64_t sig;

static void expect(const void *bytes, int value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(((const unsigned char *)bytes)[i], value);
}

/* Everything that moves elements, up to the end of the segment, which nobody else uses. */
static void up_to(char *end, char *source, size_t n)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes, from = (me + npes - 1) % npes;
    long out[BYTES / 8], *const longs = (long *)end;
    char *start = end - n;
    ptrdiff_t count = (ptrdiff_t)n / 8;
    memset(out, 'a' + me, sizeof out);

#define MOVED(by, value) (shmem_barrier_all(), by, shmem_barrier_all(), expect(start, (value), n))
    MOVED(shmem_putmem(start, out, n, to), 'a' + from);
    MOVED(memset(start, 0, n), 0);
    MOVED(shmem_long_put_nbi((long *)start, out, n / 8, to), 'a' + from);
    MOVED(memset(start, 0, n), 0);
    MOVED(shmem_putmem_signal(start, out, n, &sig, 1, SHMEM_SIGNAL_ADD, to), 'a' + from);
    MOVED(memset(start, 0, n), 0);
    MOVED(shmem_ctx_iput64(SHMEM_CTX_DEFAULT, start, out, 1, 1, n / 8, to), 'a' + from);
    shmem_getmem(out, start, n, me);
    expect(out, 'a' + from, n);
    shmem_barrier_all();
    /* The last block, or element, ends the segment; what is skipped before does not count. */
    shmem_long_iput(longs - 3 * (count - 1) - 1, out, 3, 1, (size_t)count, to);
    shmem_long_ibput(longs - 5 * (count - 1) - 2, out, 5, 1, 1, (size_t)count, to);
    shmem_long_iget(out, longs - 3 * (count - 1) - 1, 1, 3, (size_t)count, to);
    shmem_ibget64(out, longs - 2 * 2, 2, 2, 2, 2, to);
    shmem_long_p(longs - 1, 7, to);
    shmem_barrier_all();
    CHECK_EQ(longs[-1], 7);
    CHECK_EQ(shmem_long_g(longs - 1, to), 7);
    CHECK_EQ(end[-1], shmem_char_g(end - 1, to));
    shmem_barrier_all();
    shmem_long_atomic_add(longs - 1, 1, to);
    shmem_barrier_all();
    CHECK_EQ(longs[-1], 8);
    shmem_barrier_all();

    /* Collectives: dest at the end, then source. */
    memset(source, 3, BYTES * (size_t)npes);
    shmem_barrier_all();
    MOVED(shmem_broadcastmem(SHMEM_TEAM_WORLD, start, source, n, 0), 3);
    MOVED(memset(start, 0, n), 0);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, longs - count * npes, (long *)source, n / 8);
    expect(end - n * (size_t)npes, 3, n * (size_t)npes);
    MOVED(memset(end - n * (size_t)npes, 0, n * (size_t)npes), 0);
    shmem_long_collect(SHMEM_TEAM_WORLD, longs - count * npes, (long *)source, n / 8);
    expect(end - n * (size_t)npes, 3, n * (size_t)npes);
    MOVED(memset(end - n * (size_t)npes, 0, n * (size_t)npes), 0);
    shmem_alltoallmem(SHMEM_TEAM_WORLD, end - n * (size_t)npes, source, n);
    expect(end - n * (size_t)npes, 3, n * (size_t)npes);
    shmem_barrier_all();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, longs - 2 * (2 * npes - 1) - 1, (long *)source, 2, 1, 2);
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, (long *)source, longs - 2 * (2 * npes - 1) - 1, 1, 2, 2);
    expect(source, 3, 16 * (size_t)npes);
    shmem_barrier_all();
    MOVED(shmem_ulong_or_reduce(SHMEM_TEAM_WORLD, (void *)start, (void *)source, n / 8), 3);
    MOVED(shmem_ulong_max_reduce(SHMEM_TEAM_WORLD, (void *)start, (void *)start, n / 8), 3);
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, (long *)start, (long *)source, n / 8);
    expect(start, 3 * (me + 1), n);
    shmem_barrier_all();
    shmem_fcollect64(end - n * (size_t)npes, source, n / 8, 0, 0, npes, sync[0]);
    expect(end - n * (size_t)npes, 3, n * (size_t)npes);
    shmem_barrier_all();
    shmem_collect64(end - n * (size_t)npes, source, n / 8, 0, 0, npes, sync[1]);
    expect(end - n * (size_t)npes, 3, n * (size_t)npes);
    shmem_barrier_all();
    shmem_int_max_to_all((int *)start, (int *)source, (int)n / 4, 0, 0, npes, (int *)source, sync[0]);
    expect(start, 3, n);
    shmem_barrier_all();
}

/* No elements, at addresses that no element could have. */
static void nothing(void *end)
{
    int to = (shmem_my_pe() + 1) % shmem_n_pes(), npes = shmem_n_pes();
    void *none = NULL;
    uint64_t before = sig;
    shmem_barrier_all();
    shmem_putmem(end, none, 0, to);
    shmem_getmem(none, end, 0, to);
    shmem_long_put_nbi(none, none, 0, to);
    shmem_ctx_get128(SHMEM_CTX_DEFAULT, none, end, 0, to);
    shmem_long_iput(end, none, 1, 1, 0, to);
    shmem_long_iget(none, end, PTRDIFF_MAX, PTRDIFF_MAX, 0, to);
    shmem_ibput64(end, none, 1, 1, 0, 5, to);
    shmem_ibget64(none, end, 5, 5, 5, 0, to);
    shmem_putmem_signal(end, none, 0, &sig, 1, SHMEM_SIGNAL_ADD, to);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, end, end, 0, 0);
    shmem_long_collect(SHMEM_TEAM_WORLD, end, end, 0);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, end, end, 0);
    shmem_long_alltoall(SHMEM_TEAM_WORLD, end, end, 0);
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, end, end, 1, 1, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, end, end, 0);
    shmem_long_sum_exscan(SHMEM_TEAM_WORLD, end, end, 0);
    shmem_broadcast64(end, end, 0, 0, 0, 0, npes, sync[0]);
    shmem_collect32(end, end, 0, 0, 0, npes, sync[1]);
    shmem_long_sum_to_all(end, end, 0, 0, 0, npes, end, sync[0]);
    shmem_barrier_all();
    CHECK_EQ(sig, before + 1);
}

int main(void)
{
    shmem_init();
    for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync[0][i] = sync[1][i] = SHMEM_SYNC_VALUE;
    char *source = shmem_calloc((size_t)shmem_n_pes(), BYTES), *end = end_of_segment(source);
    CHECK(source != NULL);
    /* The whole rest of the heap, so that its end is ours: behind the guard that a block has under
     * SHMEM_DEBUG. A partition has its large blocks elsewhere. */
    char *rest = shmem_malloc((size_t)(end - source) - BYTES * (size_t)shmem_n_pes() - 32);
    if (rest == NULL)
        rest = shmem_malloc((1 << 20) - BYTES * (size_t)shmem_n_pes() - 8192);
    CHECK(rest != NULL && end - rest > 6 * BYTES * shmem_n_pes());
    for (size_t n = 16; n <= BYTES; n *= 4)
        up_to(end, source, n);
    nothing(end);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
