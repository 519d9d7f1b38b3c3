// pes: 1 2 4
// partition: no
// variants: pie static
// env: SHMEM_SYMMETRIC_SIZE=1m
/* A transfer that leaves the segment it begins in, or whose size wraps around, is refused before anything is read
 * or written: wherever the check costs nothing, that is above 64 bytes, with strides and in collectives; under
 * SHMEM_DEBUG every one. rule 0.1, rule 0.2, rule 0.4 */
#include "check.h"
#include <limits.h>
#include <sys/mman.h>

static long data[8], sync[SHMEM_SYNC_SIZE];
static uint64_t sig;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    long local = 0, *block = shmem_calloc(4096, 8);
    char *end = end_of_segment(block), *data_end = end_of_segment(data);
    /* Whoever touches it dies of that. */
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const shmem_team_t world = SHMEM_TEAM_WORLD;
    const shmem_ctx_t usual = SHMEM_CTX_DEFAULT;
    CHECK(block != NULL && none != MAP_FAILED);
    for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    FAILS("put-half-of-all", "shmem_putmem: nelems heap") shmem_putmem(block, none, SIZE_MAX / 2, to);
    FAILS("put-all", "shmem_putmem: nelems heap") shmem_putmem(block, none, SIZE_MAX, to);
    FAILS("get-half-of-all", "shmem_getmem: nelems heap") shmem_getmem(none, block, SIZE_MAX / 2, to);
    FAILS("put-twice-the-heap", "shmem_putmem: 2097152 heap") shmem_putmem(block, none, 2 << 20, to);
    FAILS("put-one-past", "shmem_putmem: 101 heap") shmem_putmem(end - 100, none, 101, to);
    FAILS("get-one-past", "shmem_getmem: 101 heap") shmem_getmem(none, end - 100, 101, to);
    FAILS("put-nbi-one-past", "shmem_putmem_nbi: 101 heap") shmem_putmem_nbi(end - 100, none, 101, to);
    FAILS("get-nbi-one-past", "shmem_getmem_nbi: 101 heap") shmem_getmem_nbi(none, end - 100, 101, to);
    FAILS("long-put-one-past", "shmem_long_put: nelems heap") shmem_long_put((long *)(end - 80), none, 11, to);
    FAILS("longdouble-get-one-past", "shmem_longdouble_get: nelems heap") shmem_longdouble_get(none, (long double *)(end - 80), 6, to);
    FAILS("ctx-put-one-past", "shmem_ctx_put32: nelems heap") shmem_ctx_put32(usual, end - 80, none, 21, to);
    FAILS("ctx-get-one-past", "shmem_ctx_get128: nelems heap") shmem_ctx_get128(usual, none, end - 80, 6, to);
    FAILS("ctx-get-nbi-one-past", "shmem_ctx_double_get_nbi: nelems heap") shmem_ctx_double_get_nbi(usual, none, (double *)(end - 80), 11, to);
    FAILS("put-wraps-to-8", "shmem_long_put: nelems heap") shmem_long_put(block, none, SIZE_MAX / 8 + 2, to);
    FAILS("put-wraps-to-0", "shmem_long_put: 2305843009213693952 heap") shmem_long_put(block, none, SIZE_MAX / 8 + 1, to);
    FAILS("get-wraps-to-16", "shmem_get128: nelems heap") shmem_get128(none, block, SIZE_MAX / 16 + 2, to);
    FAILS("put-signal-one-past", "shmem_putmem_signal: 101 heap") shmem_putmem_signal(end - 100, none, 101, &sig, 1, SHMEM_SIGNAL_SET, to);
    FAILS("put-signal-wraps", "shmem_int_put_signal_nbi: nelems heap")
        shmem_int_put_signal_nbi((int *)block, none, SIZE_MAX / 4 + 2, &sig, 1, SHMEM_SIGNAL_ADD, to);
    FAILS("data-one-past", "shmem_putmem: nelems data segment") shmem_putmem(data_end - 100, none, 101, to);
    FAILS("data-get-half", "shmem_getmem: nelems data segment") shmem_getmem(none, data, SIZE_MAX / 2, to);
    FAILS("iput-one-past", "shmem_long_iput: dst heap") shmem_long_iput((long *)(end - 80), none, 3, 1, 5, to);
    FAILS("iget-one-past", "shmem_long_iget: sst heap") shmem_long_iget(none, (long *)(end - 80), 1, 3, 5, to);
    FAILS("iput-few-one-past", "shmem_iput32: nelems heap") shmem_iput32(end - 4, none, 1, 1, 2, to);
    FAILS("iput-stride-wraps", "shmem_long_iput: dst heap") shmem_long_iput(block, none, (ptrdiff_t)1 << 61, 1, 2, to);
    FAILS("iput-wraps", "shmem_char_iput: dst heap") shmem_char_iput((char *)block, none, (ptrdiff_t)1 << 62, 1, 5, to);
    FAILS("iget-count-wraps", "shmem_iget64: nelems heap") shmem_iget64(none, block, 1, 1, SIZE_MAX / 8 + 2, to);
    FAILS("iput-own-side-wraps", "shmem_char_iput: sst source") shmem_char_iput((char *)block, none, 1, (ptrdiff_t)1 << 60, 16, to);
    FAILS("iget-own-side-wraps", "shmem_long_iget: dst dest") shmem_long_iget(none, block, (ptrdiff_t)1 << 61, 1, 2, to);
    FAILS("ctx-iput-one-past", "shmem_ctx_long_iput: dst heap") shmem_ctx_long_iput(usual, (long *)(end - 80), none, 3, 1, 5, to);
    FAILS("ibput-one-past", "shmem_long_ibput: bsize heap") shmem_long_ibput((long *)(end - 80), none, 4, 2, 2, 4, to);
    FAILS("ibget-one-past", "shmem_ibget32: nblocks heap") shmem_ibget32(none, end - 80, 2, 4, 2, 6, to);
    FAILS("ibput-wraps", "shmem_long_ibput: dst heap") shmem_long_ibput(block, none, (ptrdiff_t)1 << 61, 2, 2, 2, to);
    FAILS("ibget-blocks-wrap", "shmem_ibget8: nblocks heap") shmem_ibget8(none, block, 2, 2, 2, SIZE_MAX / 2 + 2, to);
    FAILS("ibput-bsize", "shmem_ibput64: bsize heap") shmem_ibput64(block, none, PTRDIFF_MAX, PTRDIFF_MAX, PTRDIFF_MAX, 1, to);
    FAILS("iput-stride-negative", "shmem_long_iput: dst") shmem_long_iput(block, none, -1, 1, 2, to);
    FAILS("iget-stride-zero", "shmem_long_iget: sst") shmem_long_iget(none, block, 1, 0, 2, to);
    FAILS("ibput-stride-negative", "shmem_long_ibput: sst") shmem_long_ibput(block, none, 2, -2, 2, 2, to);
    FAILS("large-put-pe-negative", "shmem_putmem: pe") shmem_putmem(block, none, 4096, -1);
    FAILS("large-get-pe-too-large", "shmem_getmem: pe") shmem_getmem(none, block, 4096, npes);
    FAILS("iput-pe-negative", "shmem_long_iput: pe") shmem_long_iput(block, none, 1, 1, 2, -1);
    FAILS("no-bytes-pe-negative", "shmem_putmem: pe") shmem_putmem(block, none, 0, -1);
    FAILS("broadcast-dest", "shmem_long_broadcast: nelems heap") shmem_long_broadcast(world, (long *)(end - 80), block, 11, 0);
    FAILS("broadcast-source", "shmem_broadcastmem: source heap") shmem_broadcastmem(world, block, end - 80, 81, 0);
    FAILS("broadcast-wraps", "shmem_long_broadcast: nelems heap") shmem_long_broadcast(world, block, block + 8, SIZE_MAX / 8 + 2, 0);
    FAILS("collect-source", "shmem_int_collect: nelems heap") shmem_int_collect(world, (int *)block, (int *)(end - 80), 21);
    FAILS("collect-dest", "shmem_long_collect: dest heap") shmem_long_collect(world, (long *)(end - 8 * 10 * (npes - 1)) - 9, block, 10);
    FAILS("collect-dest-large", "shmem_long_collect: dest heap") shmem_long_collect(world, (long *)(end - 8 * 1000 * (npes - 1)) - 999, block, 1000);
    FAILS("collect-dest-of-nothing", "shmem_collectmem: dest heap") shmem_collectmem(world, end - 30, block, me == npes - 1 ? 31 : 0);
    FAILS("collect-wraps", "shmem_long_collect: nelems heap") shmem_long_collect(world, block, block, SIZE_MAX / 8 + 2);
    FAILS("fcollect-dest", "shmem_long_fcollect: nelems heap") shmem_long_fcollect(world, (long *)(end - 8 * 10 * npes + 8), block, 10);
    FAILS("fcollect-source", "shmem_fcollectmem: source heap") shmem_fcollectmem(world, block, end - 10, 11);
    FAILS("fcollect-wraps", "shmem_long_fcollect: nelems heap") shmem_long_fcollect(world, block, block + 8, SIZE_MAX / 8 + 2);
    FAILS("fcollect-total-wraps", "shmem_fcollectmem: nelems heap") shmem_fcollectmem(world, block, block + 8, SIZE_MAX / (size_t)npes + (npes > 1));
    FAILS("alltoall-dest", "shmem_long_alltoall: nelems heap") shmem_long_alltoall(world, (long *)(end - 8 * 10 * npes + 8), block, 10);
    FAILS("alltoall-source", "shmem_alltoallmem: source heap") shmem_alltoallmem(world, block, end - 10 * npes + 1, 10);
    FAILS("alltoall-wraps", "shmem_long_alltoall: nelems heap") shmem_long_alltoall(world, block, block + 8, SIZE_MAX / 8 + 2);
    FAILS("alltoalls-dest", "shmem_long_alltoalls: dst heap")
        shmem_long_alltoalls(world, (long *)(end - 8 * (3 * (2 * npes - 1) + 1)) + 1, block, 3, 1, 2);
    FAILS("alltoalls-source", "shmem_alltoallsmem: sst heap") shmem_alltoallsmem(world, block, end - (3 * (2 * npes - 1) + 1) + 1, 1, 3, 2);
    FAILS("alltoalls-stride-wraps", "shmem_long_alltoalls: dst heap") shmem_long_alltoalls(world, block, block + 8, (ptrdiff_t)1 << 61, 1, 2);
    FAILS("alltoalls-count-wraps", "shmem_long_alltoalls: nelems heap") shmem_long_alltoalls(world, block, block + 8, 1, 1, SIZE_MAX / 8 + 2);
    FAILS("alltoalls-stride-negative", "shmem_long_alltoalls: dst") shmem_long_alltoalls(world, block, block + 8, -1, 1, 2);
    FAILS("reduce-dest", "shmem_long_sum_reduce: nreduce heap") shmem_long_sum_reduce(world, (long *)(end - 80), block, 11);
    FAILS("reduce-source", "shmem_int_max_reduce: source heap") shmem_int_max_reduce(world, (int *)block, (int *)(end - 80), 21);
    FAILS("reduce-wraps", "shmem_complexd_prod_reduce: nreduce heap")
        shmem_complexd_prod_reduce(world, (void *)block, (void *)(block + 8), SIZE_MAX / 16 + 2);
    FAILS("reduce-overlap", "shmem_long_sum_reduce: dest overlap source env=SHMEM_DEBUG=1") shmem_long_sum_reduce(world, block + 1, block, 10);
    FAILS("to-all-overlap", "shmem_long_sum_to_all: dest overlap source env=SHMEM_DEBUG=1")
        shmem_long_sum_to_all(block, block + 9, 10, 0, 0, npes, block + 64, sync);
    FAILS("inscan-dest", "shmem_long_sum_inscan: nelems heap") shmem_long_sum_inscan(world, (long *)(end - 80), block, 11);
    FAILS("exscan-wraps", "shmem_long_sum_exscan: nelems heap") shmem_long_sum_exscan(world, block, block + 8, SIZE_MAX / 8 + 2);
    FAILS("set-broadcast-dest", "shmem_broadcast64: nelems heap") shmem_broadcast64(end - 80, block, 11, 0, 0, 0, npes, sync);
    FAILS("set-broadcast-wraps", "shmem_broadcast32: nelems heap") shmem_broadcast32(block, block + 8, SIZE_MAX / 4 + 2, 0, 0, 0, npes, sync);
    FAILS("set-collect-dest", "shmem_collect64: dest heap") shmem_collect64((long *)(end - 8 * 10 * (npes - 1)) - 9, block, 10, 0, 0, npes, sync);
    FAILS("set-collect-source", "shmem_collect32: nelems heap") shmem_collect32(block, end - 80, 21, 0, 0, npes, sync);
    FAILS("set-fcollect-dest", "shmem_fcollect32: nelems heap") shmem_fcollect32(end - 4 * 10 * npes + 4, block, 10, 0, 0, npes, sync);
    FAILS("set-fcollect-wraps", "shmem_fcollect64: nelems heap") shmem_fcollect64(block, block + 8, SIZE_MAX / 8 + 2, 0, 0, npes, sync);
    FAILS("set-alltoall-source", "shmem_alltoall64: source heap") shmem_alltoall64(block, end - 8 * 10 * npes + 8, 10, 0, 0, npes, sync);
    FAILS("set-alltoalls-dest", "shmem_alltoalls32: dst heap")
        shmem_alltoalls32((int *)(end - 4 * (3 * (2 * npes - 1) + 1)) + 1, block, 3, 1, 2, 0, 0, npes, sync);
    FAILS("set-alltoalls-wraps", "shmem_alltoalls64: sst heap") shmem_alltoalls64(block, block + 8, 1, (ptrdiff_t)1 << 61, 2, 0, 0, npes, sync);
    FAILS("set-reduce-dest", "shmem_int_sum_to_all: nreduce heap")
        shmem_int_sum_to_all((int *)(end - 80), (int *)block, 21, 0, 0, npes, (int *)block, sync);
    FAILS("set-reduce-huge", "shmem_long_max_to_all: 2147483647 heap") shmem_long_max_to_all(block, block, INT_MAX, 0, 0, npes, block, sync);
    FAILS("set-reduce-negative", "shmem_int_sum_to_all: nreduce")
        shmem_int_sum_to_all((int *)block, (int *)block, -1, 0, 0, npes, (int *)block, sync);
    FAILS("debug-put", "shmem_putmem: nelems heap env=SHMEM_DEBUG=1") shmem_putmem(end - 4, &local, 8, to);
    FAILS("debug-get", "shmem_int_get: nelems heap env=SHMEM_DEBUG=1") shmem_int_get((int *)&local, (int *)(end - 4), 2, to);
    FAILS("debug-p", "shmem_long_p: dest heap env=SHMEM_DEBUG=1") shmem_long_p((long *)(end - 4), 1, to);
    FAILS("debug-g", "shmem_long_g: source heap env=SHMEM_DEBUG=1") local = shmem_long_g((long *)(end - 4), to);
    FAILS("debug-put-signal", "shmem_putmem_signal: nelems heap env=SHMEM_DEBUG=1")
        shmem_putmem_signal(end - 4, &local, 8, &sig, 1, SHMEM_SIGNAL_SET, to);
    FAILS("debug-data", "shmem_putmem: nelems data segment env=SHMEM_DEBUG=1") shmem_putmem(data_end - 4, &local, 8, to);
    FAILS("debug-large-put", "shmem_putmem: 101 heap env=SHMEM_DEBUG=1") shmem_putmem(end - 100, none, 101, to);
    FAILS("debug-source", "shmem_long_put: nelems source data env=SHMEM_DEBUG=1") shmem_long_put(block, (long *)(data_end - 8), 2, to);
    FAILS("debug-dest", "shmem_long_get: nelems dest data env=SHMEM_DEBUG=1") shmem_long_get((long *)(data_end - 8), block, 2, to);
    (void)me, (void)local;
    shmem_barrier_all(); /* not reached by all: the job has ended */
    shmem_finalize();
    return 0;
}
