// pes: 2
// variants: pie static
/* Calls that cannot be carried out end the job with a message that names routine,
 * argument and what was expected. What the specification leaves undefined is an
 * error here: rule 0.1, rule 0.2, rule 0.4, rule 0.5, rule 10.5 */
// case: pe-too-large pe-too-large | status=nonzero stderr=shmem_long_p stderr=pe
// case: pe-negative pe-negative | status=nonzero stderr=shmem_long_g stderr=-1
// case: pe-of-atomic pe-of-atomic | status=nonzero stderr=shmem_long_atomic_fetch_add
// case: pe-of-put pe-of-put | status=nonzero stderr=shmem_putmem
// case: pe-of-signal pe-of-signal | status=nonzero stderr=shmem_signal_add
// case: stack stack | status=nonzero stderr=shmem_long_p stderr=dest stderr=stack
// case: malloc malloc | status=nonzero stderr=shmem_long_get stderr=source stderr=symmetric
// case: constant constant | status=nonzero stderr=shmem_int_put stderr=dest stderr=symmetric
// case: null null | status=nonzero stderr=shmem_long_put stderr=dest
// case: beyond-the-heap beyond-the-heap | status=nonzero stderr=shmem_char_put
// case: freed-twice freed-twice | status=nonzero stderr=shmem_free
// case: free-not-from-heap free-not-from-heap | status=nonzero stderr=shmem_free
// case: free-inside-a-block free-inside-a-block | status=nonzero stderr=shmem_free
// case: realloc-not-from-heap realloc-not-from-heap | status=nonzero stderr=shmem_realloc
// case: misaligned-atomic misaligned-atomic | status=nonzero stderr=shmem_long_atomic_inc stderr=multiple
// case: misaligned-signal misaligned-signal | status=nonzero stderr=shmem_signal_add stderr=multiple
// case: bad-comparison bad-comparison | status=nonzero stderr=shmem_long_wait_until stderr=cmp
// case: before-init before-init | status=nonzero stderr=shmem_my_pe stderr=shmem_init
// case: put-before-init put-before-init | status=nonzero stderr=shmem_long_p stderr=shmem_init
// case: barrier-before-init barrier-before-init | status=nonzero stderr=shmem_barrier_all stderr=shmem_init
// case: after-finalize after-finalize | status=nonzero stderr=shmem_long_p
// case: malloc-after-finalize malloc-after-finalize | status=nonzero stderr=shmem_malloc
// case: broadcast-root broadcast-root | status=nonzero stderr=shmem_long_broadcast
// case: collective-invalid-team collective-invalid-team | status=nonzero stderr=shmem_team_sync
// case: put-on-invalid-context put-on-invalid-context | status=nonzero stderr=shmem_ctx_long_p
// case: destroyed-context destroyed-context | status=nonzero stderr=shmem_ctx_long_p
// case: collective-private-dest collective-private-dest | status=nonzero stderr=shmem_long_sum_reduce
// case: clear-a-free-lock clear-a-free-lock | status=nonzero stderr=shmem_clear_lock
// case: relocked relocked | status=nonzero stderr=shmem_set_lock
#include "check.h"

static long data[8];
static uint64_t sig;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *what = argv[1];
    long local = 0, *private = malloc(64);
    int me = -1;
#define IS(name) (strcmp(what, name) == 0)
    if (IS("before-init"))
        return shmem_my_pe() + 100; /* must not come back */
    if (IS("put-before-init"))
        shmem_long_p(data, 1, 0);
    if (IS("barrier-before-init"))
        shmem_barrier_all();
    if (!strstr(what, "before-init"))
        shmem_init();
    else
        return 0;
    me = shmem_my_pe();
    int npes = shmem_n_pes(), to = (me + 1) % npes;
    long *block = shmem_malloc(256);
    shmem_barrier_all();
    if (IS("after-finalize") || IS("malloc-after-finalize")) {
        shmem_finalize();
        if (IS("after-finalize"))
            shmem_long_p(data, 1, to);
        else
            (shmem_malloc)(8); /* by name, whatever stands for it elsewhere */
        return 0;
    }
    if (me == 0 || IS("collective-private-dest") || IS("broadcast-root") ||
        strstr(what, "free") || strstr(what, "realloc")) {
        if (IS("pe-too-large")) shmem_long_p(data, 1, npes);
        if (IS("pe-negative")) shmem_long_g(data, -1);
        if (IS("pe-of-atomic")) shmem_long_atomic_fetch_add(data, 1, 1000000);
        if (IS("pe-of-put")) shmem_putmem(data, &local, 8, INT32_MIN);
        if (IS("pe-of-signal")) shmem_signal_add(&sig, 1, npes + 1);
        if (IS("stack")) shmem_long_p(&local, 1, to);
        if (IS("malloc")) shmem_long_get(data, private, 1, to);
        if (IS("constant")) shmem_int_put((int *)(uintptr_t) "a constant of the program", (int[]){1}, 1, to);
        if (IS("null")) shmem_long_put(NULL, &local, 1, to);
        if (IS("beyond-the-heap")) shmem_char_put((char *)block + ((size_t)1 << 46), "x", 1, to);
        if (IS("freed-twice")) { shmem_free(block); shmem_free(block); }
        if (IS("free-not-from-heap")) shmem_free(data);
        if (IS("free-inside-a-block")) shmem_free(block + 1);
        if (IS("realloc-not-from-heap")) block = shmem_realloc(data, 10);
        if (IS("misaligned-atomic")) shmem_long_atomic_inc((long *)((char *)data + 1), to);
        if (IS("misaligned-signal")) shmem_signal_add((uint64_t *)((char *)&data + 4), 1, to);
        if (IS("bad-comparison")) shmem_long_wait_until(data, 4711, 0);
        if (IS("broadcast-root")) shmem_long_broadcast(SHMEM_TEAM_WORLD, data, data + 4, 2, npes);
        if (IS("collective-invalid-team")) shmem_team_sync(SHMEM_TEAM_INVALID);
        if (IS("put-on-invalid-context")) shmem_ctx_long_p(SHMEM_CTX_INVALID, data, 1, to);
        if (IS("destroyed-context")) {
            shmem_ctx_t ctx;
            CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
            shmem_ctx_destroy(ctx);
            shmem_ctx_long_p(ctx, data, 1, to);
        }
        if (IS("collective-private-dest"))
            shmem_long_sum_reduce(SHMEM_TEAM_WORLD, private, data, 1);
        if (IS("clear-a-free-lock")) shmem_clear_lock(data);
        if (IS("relocked")) { shmem_set_lock(data); shmem_set_lock(data); } /* rule 13.4 */
    }
    shmem_barrier_all(); /* not reached by all: the job has ended */
    shmem_finalize();
    return 0;
}
