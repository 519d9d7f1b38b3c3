// pes: 1 2 4
// partition: no
// variants: pie static
// env: SHMEM_SYMMETRIC_SIZE=1m
/* A transfer that leaves the segment it begins in, or whose size wraps around, is refused before anything is read
 * or written: wherever the check costs nothing, that is above 64 bytes, with strides and in collectives; under
 * SHMEM_DEBUG every one. rule 0.1, rule 0.2, rule 0.4 */
// case: put-half-of-all put-half-of-all | status=nonzero stderr=shmem_putmem: stderr=nelems stderr=heap
// case: put-all put-all | status=nonzero stderr=shmem_putmem: stderr=nelems stderr=heap
// case: get-half-of-all get-half-of-all | status=nonzero stderr=shmem_getmem: stderr=nelems stderr=heap
// case: put-twice-the-heap put-twice-the-heap | status=nonzero stderr=shmem_putmem: stderr=2097152 stderr=heap
// case: put-one-past put-one-past | status=nonzero stderr=shmem_putmem: stderr=101 stderr=heap
// case: get-one-past get-one-past | status=nonzero stderr=shmem_getmem: stderr=101 stderr=heap
// case: put-nbi-one-past put-nbi-one-past | status=nonzero stderr=shmem_putmem_nbi: stderr=101 stderr=heap
// case: get-nbi-one-past get-nbi-one-past | status=nonzero stderr=shmem_getmem_nbi: stderr=101 stderr=heap
// case: long-put-one-past long-put-one-past | status=nonzero stderr=shmem_long_put: stderr=nelems stderr=heap
// case: longdouble-get-one-past longdouble-get-one-past | status=nonzero stderr=shmem_longdouble_get: stderr=nelems stderr=heap
// case: ctx-put-one-past ctx-put-one-past | status=nonzero stderr=shmem_ctx_put32: stderr=nelems stderr=heap
// case: ctx-get-one-past ctx-get-one-past | status=nonzero stderr=shmem_ctx_get128: stderr=nelems stderr=heap
// case: ctx-get-nbi-one-past ctx-get-nbi-one-past | status=nonzero stderr=shmem_ctx_double_get_nbi: stderr=nelems stderr=heap
// case: put-wraps-to-8 put-wraps-to-8 | status=nonzero stderr=shmem_long_put: stderr=nelems stderr=heap
// case: put-wraps-to-0 put-wraps-to-0 | status=nonzero stderr=shmem_long_put: stderr=2305843009213693952 stderr=heap
// case: get-wraps-to-16 get-wraps-to-16 | status=nonzero stderr=shmem_get128: stderr=nelems stderr=heap
// case: put-signal-one-past put-signal-one-past | status=nonzero stderr=shmem_putmem_signal: stderr=101 stderr=heap
// case: put-signal-wraps put-signal-wraps | status=nonzero stderr=shmem_int_put_signal_nbi: stderr=nelems stderr=heap
// case: data-one-past data-one-past | status=nonzero stderr=shmem_putmem: stderr=nelems stderr=data stderr=segment
// case: data-get-half data-get-half | status=nonzero stderr=shmem_getmem: stderr=nelems stderr=data stderr=segment
// case: iput-one-past iput-one-past | status=nonzero stderr=shmem_long_iput: stderr=dst stderr=heap
// case: iget-one-past iget-one-past | status=nonzero stderr=shmem_long_iget: stderr=sst stderr=heap
// case: iput-few-one-past iput-few-one-past | status=nonzero stderr=shmem_iput32: stderr=nelems stderr=heap
// case: iput-stride-wraps iput-stride-wraps | status=nonzero stderr=shmem_long_iput: stderr=dst stderr=heap
// case: iput-wraps iput-wraps | status=nonzero stderr=shmem_char_iput: stderr=dst stderr=heap
// case: iget-count-wraps iget-count-wraps | status=nonzero stderr=shmem_iget64: stderr=nelems stderr=heap
// case: iput-own-side-wraps iput-own-side-wraps | status=nonzero stderr=shmem_char_iput: stderr=sst stderr=source
// case: iget-own-side-wraps iget-own-side-wraps | status=nonzero stderr=shmem_long_iget: stderr=dst stderr=dest
// case: ctx-iput-one-past ctx-iput-one-past | status=nonzero stderr=shmem_ctx_long_iput: stderr=dst stderr=heap
// case: ibput-one-past ibput-one-past | status=nonzero stderr=shmem_long_ibput: stderr=bsize stderr=heap
// case: ibget-one-past ibget-one-past | status=nonzero stderr=shmem_ibget32: stderr=nblocks stderr=heap
// case: ibput-wraps ibput-wraps | status=nonzero stderr=shmem_long_ibput: stderr=dst stderr=heap
// case: ibget-blocks-wrap ibget-blocks-wrap | status=nonzero stderr=shmem_ibget8: stderr=nblocks stderr=heap
// case: ibput-bsize ibput-bsize | status=nonzero stderr=shmem_ibput64: stderr=bsize stderr=heap
// case: iput-stride-negative iput-stride-negative | status=nonzero stderr=shmem_long_iput: stderr=dst
// case: iget-stride-zero iget-stride-zero | status=nonzero stderr=shmem_long_iget: stderr=sst
// case: ibput-stride-negative ibput-stride-negative | status=nonzero stderr=shmem_long_ibput: stderr=sst
// case: large-put-pe-negative large-put-pe-negative | status=nonzero stderr=shmem_putmem: stderr=pe
// case: large-get-pe-too-large large-get-pe-too-large | status=nonzero stderr=shmem_getmem: stderr=pe
// case: iput-pe-negative iput-pe-negative | status=nonzero stderr=shmem_long_iput: stderr=pe
// case: no-bytes-pe-negative no-bytes-pe-negative | status=nonzero stderr=shmem_putmem: stderr=pe
// case: broadcast-dest broadcast-dest | status=nonzero stderr=shmem_long_broadcast: stderr=nelems stderr=heap
// case: broadcast-source broadcast-source | status=nonzero stderr=shmem_broadcastmem: stderr=source stderr=heap
// case: broadcast-wraps broadcast-wraps | status=nonzero stderr=shmem_long_broadcast: stderr=nelems stderr=heap
// case: collect-source collect-source | status=nonzero stderr=shmem_int_collect: stderr=nelems stderr=heap
// case: collect-dest collect-dest | status=nonzero stderr=shmem_long_collect: stderr=dest stderr=heap
// case: collect-dest-large collect-dest-large | status=nonzero stderr=shmem_long_collect: stderr=dest stderr=heap
// case: collect-dest-of-nothing collect-dest-of-nothing | status=nonzero stderr=shmem_collectmem: stderr=dest stderr=heap
// case: collect-wraps collect-wraps | status=nonzero stderr=shmem_long_collect: stderr=nelems stderr=heap
// case: fcollect-dest fcollect-dest | status=nonzero stderr=shmem_long_fcollect: stderr=nelems stderr=heap
// case: fcollect-source fcollect-source | status=nonzero stderr=shmem_fcollectmem: stderr=source stderr=heap
// case: fcollect-wraps fcollect-wraps | status=nonzero stderr=shmem_long_fcollect: stderr=nelems stderr=heap
// case: fcollect-total-wraps fcollect-total-wraps | status=nonzero stderr=shmem_fcollectmem: stderr=nelems stderr=heap
// case: alltoall-dest alltoall-dest | status=nonzero stderr=shmem_long_alltoall: stderr=nelems stderr=heap
// case: alltoall-source alltoall-source | status=nonzero stderr=shmem_alltoallmem: stderr=source stderr=heap
// case: alltoall-wraps alltoall-wraps | status=nonzero stderr=shmem_long_alltoall: stderr=nelems stderr=heap
// case: alltoalls-dest alltoalls-dest | status=nonzero stderr=shmem_long_alltoalls: stderr=dst stderr=heap
// case: alltoalls-source alltoalls-source | status=nonzero stderr=shmem_alltoallsmem: stderr=sst stderr=heap
// case: alltoalls-stride-wraps alltoalls-stride-wraps | status=nonzero stderr=shmem_long_alltoalls: stderr=dst stderr=heap
// case: alltoalls-count-wraps alltoalls-count-wraps | status=nonzero stderr=shmem_long_alltoalls: stderr=nelems stderr=heap
// case: alltoalls-stride-negative alltoalls-stride-negative | status=nonzero stderr=shmem_long_alltoalls: stderr=dst
// case: reduce-dest reduce-dest | status=nonzero stderr=shmem_long_sum_reduce: stderr=nreduce stderr=heap
// case: reduce-source reduce-source | status=nonzero stderr=shmem_int_max_reduce: stderr=source stderr=heap
// case: reduce-wraps reduce-wraps | status=nonzero stderr=shmem_complexd_prod_reduce: stderr=nreduce stderr=heap
// case: inscan-dest inscan-dest | status=nonzero stderr=shmem_long_sum_inscan: stderr=nelems stderr=heap
// case: exscan-wraps exscan-wraps | status=nonzero stderr=shmem_long_sum_exscan: stderr=nelems stderr=heap
// case: set-broadcast-dest set-broadcast-dest | status=nonzero stderr=shmem_broadcast64: stderr=nelems stderr=heap
// case: set-broadcast-wraps set-broadcast-wraps | status=nonzero stderr=shmem_broadcast32: stderr=nelems stderr=heap
// case: set-collect-dest set-collect-dest | status=nonzero stderr=shmem_collect64: stderr=dest stderr=heap
// case: set-collect-source set-collect-source | status=nonzero stderr=shmem_collect32: stderr=nelems stderr=heap
// case: set-fcollect-dest set-fcollect-dest | status=nonzero stderr=shmem_fcollect32: stderr=nelems stderr=heap
// case: set-fcollect-wraps set-fcollect-wraps | status=nonzero stderr=shmem_fcollect64: stderr=nelems stderr=heap
// case: set-alltoall-source set-alltoall-source | status=nonzero stderr=shmem_alltoall64: stderr=source stderr=heap
// case: set-alltoalls-dest set-alltoalls-dest | status=nonzero stderr=shmem_alltoalls32: stderr=dst stderr=heap
// case: set-alltoalls-wraps set-alltoalls-wraps | status=nonzero stderr=shmem_alltoalls64: stderr=sst stderr=heap
// case: set-reduce-dest set-reduce-dest | status=nonzero stderr=shmem_int_sum_to_all: stderr=nreduce stderr=heap
// case: set-reduce-huge set-reduce-huge | status=nonzero stderr=shmem_long_max_to_all: stderr=2147483647 stderr=heap
// case: set-reduce-negative set-reduce-negative | status=nonzero stderr=shmem_int_sum_to_all: stderr=nreduce
// case: debug-put debug-put | status=nonzero stderr=shmem_putmem: stderr=nelems stderr=heap env=SHMEM_DEBUG=1
// case: debug-get debug-get | status=nonzero stderr=shmem_int_get: stderr=nelems stderr=heap env=SHMEM_DEBUG=1
// case: debug-p debug-p | status=nonzero stderr=shmem_long_p: stderr=dest stderr=heap env=SHMEM_DEBUG=1
// case: debug-g debug-g | status=nonzero stderr=shmem_long_g: stderr=source stderr=heap env=SHMEM_DEBUG=1
// case: debug-put-signal debug-put-signal | status=nonzero stderr=shmem_putmem_signal: stderr=nelems stderr=heap env=SHMEM_DEBUG=1
// case: debug-data debug-data | status=nonzero stderr=shmem_putmem: stderr=nelems stderr=data stderr=segment env=SHMEM_DEBUG=1
// case: debug-large-put debug-large-put | status=nonzero stderr=shmem_putmem: stderr=101 stderr=heap env=SHMEM_DEBUG=1
// case: debug-source debug-source | status=nonzero stderr=shmem_long_put: stderr=nelems stderr=source stderr=data env=SHMEM_DEBUG=1
// case: debug-dest debug-dest | status=nonzero stderr=shmem_long_get: stderr=nelems stderr=dest stderr=data env=SHMEM_DEBUG=1
#include "check.h"
#include <limits.h>
#include <sys/mman.h>

static long data[8], sync[SHMEM_SYNC_SIZE];
static uint64_t sig;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *what = argv[1];
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    long local = 0, *block = shmem_calloc(4096, 8);
    char *end = end_of_segment(block), *data_end = end_of_segment(data);
    /* Whoever touches it dies of that. */
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != NULL && none != MAP_FAILED);
    for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
#define IS(name) (strcmp(what, name) == 0)
    if (IS("put-half-of-all")) shmem_putmem(block, none, SIZE_MAX / 2, to);
    if (IS("put-all")) shmem_putmem(block, none, SIZE_MAX, to);
    if (IS("get-half-of-all")) shmem_getmem(none, block, SIZE_MAX / 2, to);
    if (IS("put-twice-the-heap")) shmem_putmem(block, none, 2 << 20, to);
    if (IS("put-one-past")) shmem_putmem(end - 100, none, 101, to);
    if (IS("get-one-past")) shmem_getmem(none, end - 100, 101, to);
    if (IS("put-nbi-one-past")) shmem_putmem_nbi(end - 100, none, 101, to);
    if (IS("get-nbi-one-past")) shmem_getmem_nbi(none, end - 100, 101, to);
    if (IS("long-put-one-past")) shmem_long_put((long *)(end - 80), none, 11, to);
    if (IS("longdouble-get-one-past")) shmem_longdouble_get(none, (long double *)(end - 80), 6, to);
    if (IS("ctx-put-one-past")) shmem_ctx_put32(SHMEM_CTX_DEFAULT, end - 80, none, 21, to);
    if (IS("ctx-get-one-past")) shmem_ctx_get128(SHMEM_CTX_DEFAULT, none, end - 80, 6, to);
    if (IS("ctx-get-nbi-one-past")) shmem_ctx_double_get_nbi(SHMEM_CTX_DEFAULT, none, (double *)(end - 80), 11, to);
    if (IS("put-wraps-to-8")) shmem_long_put(block, none, SIZE_MAX / 8 + 2, to);
    if (IS("put-wraps-to-0")) shmem_long_put(block, none, SIZE_MAX / 8 + 1, to);
    if (IS("get-wraps-to-16")) shmem_get128(none, block, SIZE_MAX / 16 + 2, to);
    if (IS("put-signal-one-past")) shmem_putmem_signal(end - 100, none, 101, &sig, 1, SHMEM_SIGNAL_SET, to);
    if (IS("put-signal-wraps")) shmem_int_put_signal_nbi((int *)block, none, SIZE_MAX / 4 + 2, &sig, 1, SHMEM_SIGNAL_ADD, to);
    if (IS("data-one-past")) shmem_putmem(data_end - 100, none, 101, to);
    if (IS("data-get-half")) shmem_getmem(none, data, SIZE_MAX / 2, to);
    if (IS("iput-one-past")) shmem_long_iput((long *)(end - 80), none, 3, 1, 5, to);
    if (IS("iget-one-past")) shmem_long_iget(none, (long *)(end - 80), 1, 3, 5, to);
    if (IS("iput-few-one-past")) shmem_iput32(end - 4, none, 1, 1, 2, to);
    if (IS("iput-stride-wraps")) shmem_long_iput(block, none, (ptrdiff_t)1 << 61, 1, 2, to);
    if (IS("iput-wraps")) shmem_char_iput((char *)block, none, (ptrdiff_t)1 << 62, 1, 5, to);
    if (IS("iget-count-wraps")) shmem_iget64(none, block, 1, 1, SIZE_MAX / 8 + 2, to);
    if (IS("iput-own-side-wraps")) shmem_char_iput((char *)block, none, 1, (ptrdiff_t)1 << 60, 16, to);
    if (IS("iget-own-side-wraps")) shmem_long_iget(none, block, (ptrdiff_t)1 << 61, 1, 2, to);
    if (IS("ctx-iput-one-past")) shmem_ctx_long_iput(SHMEM_CTX_DEFAULT, (long *)(end - 80), none, 3, 1, 5, to);
    if (IS("ibput-one-past")) shmem_long_ibput((long *)(end - 80), none, 4, 2, 2, 4, to);
    if (IS("ibget-one-past")) shmem_ibget32(none, end - 80, 2, 4, 2, 6, to);
    if (IS("ibput-wraps")) shmem_long_ibput(block, none, (ptrdiff_t)1 << 61, 2, 2, 2, to);
    if (IS("ibget-blocks-wrap")) shmem_ibget8(none, block, 2, 2, 2, SIZE_MAX / 2 + 2, to);
    if (IS("ibput-bsize")) shmem_ibput64(block, none, PTRDIFF_MAX, PTRDIFF_MAX, PTRDIFF_MAX, 1, to);
    if (IS("iput-stride-negative")) shmem_long_iput(block, none, -1, 1, 2, to);
    if (IS("iget-stride-zero")) shmem_long_iget(none, block, 1, 0, 2, to);
    if (IS("ibput-stride-negative")) shmem_long_ibput(block, none, 2, -2, 2, 2, to);
    if (IS("large-put-pe-negative")) shmem_putmem(block, none, 4096, -1);
    if (IS("large-get-pe-too-large")) shmem_getmem(none, block, 4096, npes);
    if (IS("iput-pe-negative")) shmem_long_iput(block, none, 1, 1, 2, -1);
    if (IS("no-bytes-pe-negative")) shmem_putmem(block, none, 0, -1);
    if (IS("broadcast-dest")) shmem_long_broadcast(SHMEM_TEAM_WORLD, (long *)(end - 80), block, 11, 0);
    if (IS("broadcast-source")) shmem_broadcastmem(SHMEM_TEAM_WORLD, block, end - 80, 81, 0);
    if (IS("broadcast-wraps")) shmem_long_broadcast(SHMEM_TEAM_WORLD, block, block + 8, SIZE_MAX / 8 + 2, 0);
    if (IS("collect-source")) shmem_int_collect(SHMEM_TEAM_WORLD, (int *)block, (int *)(end - 80), 21);
    if (IS("collect-dest")) shmem_long_collect(SHMEM_TEAM_WORLD, (long *)(end - 8 * 10 * (npes - 1)) - 9, block, 10);
    if (IS("collect-dest-large")) shmem_long_collect(SHMEM_TEAM_WORLD, (long *)(end - 8 * 1000 * (npes - 1)) - 999, block, 1000);
    if (IS("collect-dest-of-nothing")) shmem_collectmem(SHMEM_TEAM_WORLD, end - 30, block, me == npes - 1 ? 31 : 0);
    if (IS("collect-wraps")) shmem_long_collect(SHMEM_TEAM_WORLD, block, block, SIZE_MAX / 8 + 2);
    if (IS("fcollect-dest")) shmem_long_fcollect(SHMEM_TEAM_WORLD, (long *)(end - 8 * 10 * npes + 8), block, 10);
    if (IS("fcollect-source")) shmem_fcollectmem(SHMEM_TEAM_WORLD, block, end - 10, 11);
    if (IS("fcollect-wraps")) shmem_long_fcollect(SHMEM_TEAM_WORLD, block, block + 8, SIZE_MAX / 8 + 2);
    if (IS("fcollect-total-wraps")) shmem_fcollectmem(SHMEM_TEAM_WORLD, block, block + 8, SIZE_MAX / (size_t)npes + (npes > 1));
    if (IS("alltoall-dest")) shmem_long_alltoall(SHMEM_TEAM_WORLD, (long *)(end - 8 * 10 * npes + 8), block, 10);
    if (IS("alltoall-source")) shmem_alltoallmem(SHMEM_TEAM_WORLD, block, end - 10 * npes + 1, 10);
    if (IS("alltoall-wraps")) shmem_long_alltoall(SHMEM_TEAM_WORLD, block, block + 8, SIZE_MAX / 8 + 2);
    if (IS("alltoalls-dest")) shmem_long_alltoalls(SHMEM_TEAM_WORLD, (long *)(end - 8 * (3 * (2 * npes - 1) + 1)) + 1, block, 3, 1, 2);
    if (IS("alltoalls-source")) shmem_alltoallsmem(SHMEM_TEAM_WORLD, block, end - (3 * (2 * npes - 1) + 1) + 1, 1, 3, 2);
    if (IS("alltoalls-stride-wraps")) shmem_long_alltoalls(SHMEM_TEAM_WORLD, block, block + 8, (ptrdiff_t)1 << 61, 1, 2);
    if (IS("alltoalls-count-wraps")) shmem_long_alltoalls(SHMEM_TEAM_WORLD, block, block + 8, 1, 1, SIZE_MAX / 8 + 2);
    if (IS("alltoalls-stride-negative")) shmem_long_alltoalls(SHMEM_TEAM_WORLD, block, block + 8, -1, 1, 2);
    if (IS("reduce-dest")) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)(end - 80), block, 11);
    if (IS("reduce-source")) shmem_int_max_reduce(SHMEM_TEAM_WORLD, (int *)block, (int *)(end - 80), 21);
    if (IS("reduce-wraps")) shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, (void *)block, (void *)(block + 8), SIZE_MAX / 16 + 2);
    if (IS("inscan-dest")) shmem_long_sum_inscan(SHMEM_TEAM_WORLD, (long *)(end - 80), block, 11);
    if (IS("exscan-wraps")) shmem_long_sum_exscan(SHMEM_TEAM_WORLD, block, block + 8, SIZE_MAX / 8 + 2);
    if (IS("set-broadcast-dest")) shmem_broadcast64(end - 80, block, 11, 0, 0, 0, npes, sync);
    if (IS("set-broadcast-wraps")) shmem_broadcast32(block, block + 8, SIZE_MAX / 4 + 2, 0, 0, 0, npes, sync);
    if (IS("set-collect-dest")) shmem_collect64((long *)(end - 8 * 10 * (npes - 1)) - 9, block, 10, 0, 0, npes, sync);
    if (IS("set-collect-source")) shmem_collect32(block, end - 80, 21, 0, 0, npes, sync);
    if (IS("set-fcollect-dest")) shmem_fcollect32(end - 4 * 10 * npes + 4, block, 10, 0, 0, npes, sync);
    if (IS("set-fcollect-wraps")) shmem_fcollect64(block, block + 8, SIZE_MAX / 8 + 2, 0, 0, npes, sync);
    if (IS("set-alltoall-source")) shmem_alltoall64(block, end - 8 * 10 * npes + 8, 10, 0, 0, npes, sync);
    if (IS("set-alltoalls-dest")) shmem_alltoalls32((int *)(end - 4 * (3 * (2 * npes - 1) + 1)) + 1, block, 3, 1, 2, 0, 0, npes, sync);
    if (IS("set-alltoalls-wraps")) shmem_alltoalls64(block, block + 8, 1, (ptrdiff_t)1 << 61, 2, 0, 0, npes, sync);
    if (IS("set-reduce-dest")) shmem_int_sum_to_all((int *)(end - 80), (int *)block, 21, 0, 0, npes, (int *)block, sync);
    if (IS("set-reduce-huge")) shmem_long_max_to_all(block, block, INT_MAX, 0, 0, npes, block, sync);
    if (IS("set-reduce-negative")) shmem_int_sum_to_all((int *)block, (int *)block, -1, 0, 0, npes, (int *)block, sync);
    if (IS("debug-put")) shmem_putmem(end - 4, &local, 8, to);
    if (IS("debug-get")) shmem_int_get((int *)&local, (int *)(end - 4), 2, to);
    if (IS("debug-p")) shmem_long_p((long *)(end - 4), 1, to);
    if (IS("debug-g")) local = shmem_long_g((long *)(end - 4), to);
    if (IS("debug-put-signal")) shmem_putmem_signal(end - 4, &local, 8, &sig, 1, SHMEM_SIGNAL_SET, to);
    if (IS("debug-data")) shmem_putmem(data_end - 4, &local, 8, to);
    if (IS("debug-large-put")) shmem_putmem(end - 100, none, 101, to);
    if (IS("debug-source")) shmem_long_put(block, (long *)(data_end - 8), 2, to);
    if (IS("debug-dest")) shmem_long_get((long *)(data_end - 8), block, 2, to);
    (void)me, (void)local;
    shmem_barrier_all(); /* not reached by all: the job has ended */
    shmem_finalize();
    return 0;
}
