// pes: 2
// variants: pie static
/* Calls that cannot be carried out end the job with a message that names routine,
 * argument and what was expected. What the specification leaves undefined is an
 * error here: rule 0.1, rule 0.2, rule 0.4, rule 0.5, rule 10.5 */
// case: before-init before-init | status=nonzero stderr=shmem_my_pe stderr=shmem_init
// case: after-finalize after-finalize | status=nonzero stderr=shmem_long_p
// case: malloc-after-finalize malloc-after-finalize | status=nonzero stderr=shmem_malloc
// case: broadcast-root broadcast-root | status=nonzero stderr=shmem_long_broadcast
// case: collective-private-dest collective-private-dest | status=nonzero stderr=shmem_long_sum_reduce
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
    FAILS("put-before-init", "shmem_long_p shmem_init")
        shmem_long_p(data, 1, 0);
    FAILS("barrier-before-init", "shmem_barrier_all shmem_init")
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
        FAILS("pe-too-large", "shmem_long_p pe") shmem_long_p(data, 1, npes);
        FAILS("pe-negative", "shmem_long_g -1") shmem_long_g(data, -1);
        FAILS("pe-of-atomic", "shmem_long_atomic_fetch_add") shmem_long_atomic_fetch_add(data, 1, 1000000);
        FAILS("pe-of-put", "shmem_putmem") shmem_putmem(data, &local, 8, INT32_MIN);
        FAILS("pe-of-signal", "shmem_signal_add") shmem_signal_add(&sig, 1, npes + 1);
        FAILS("stack", "shmem_long_p dest stack") shmem_long_p(&local, 1, to);
        FAILS("malloc", "shmem_long_get source symmetric") shmem_long_get(data, private, 1, to);
        FAILS("constant", "shmem_int_put dest symmetric") shmem_int_put((int *)(uintptr_t) "a constant of the program", (int[]){1}, 1, to);
        FAILS("null", "shmem_long_put dest") shmem_long_put(NULL, &local, 1, to);
        FAILS("beyond-the-heap", "shmem_char_put") shmem_char_put((char *)block + ((size_t)1 << 46), "x", 1, to);
        FAILS("freed-twice", "shmem_free") { shmem_free(block); shmem_free(block); }
        FAILS("free-not-from-heap", "shmem_free") shmem_free(data);
        FAILS("free-inside-a-block", "shmem_free") shmem_free(block + 1);
        FAILS("realloc-not-from-heap", "shmem_realloc") block = shmem_realloc(data, 10);
        FAILS("misaligned-atomic", "shmem_long_atomic_inc multiple") shmem_long_atomic_inc((long *)((char *)data + 1), to);
        FAILS("misaligned-signal", "shmem_signal_add multiple") shmem_signal_add((uint64_t *)((char *)&data + 4), 1, to);
        FAILS("bad-comparison", "shmem_long_wait_until cmp") shmem_long_wait_until(data, 4711, 0);
        if (IS("broadcast-root")) shmem_long_broadcast(SHMEM_TEAM_WORLD, data, data + 4, 2, npes);
        FAILS("collective-invalid-team", "shmem_team_sync") shmem_team_sync(SHMEM_TEAM_INVALID);
        FAILS("put-on-invalid-context", "shmem_ctx_long_p") shmem_ctx_long_p(SHMEM_CTX_INVALID, data, 1, to);
        FAILS("destroyed-context", "shmem_ctx_long_p") {
            shmem_ctx_t ctx;
            CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
            shmem_ctx_destroy(ctx);
            shmem_ctx_long_p(ctx, data, 1, to);
        }
        if (IS("collective-private-dest"))
            shmem_long_sum_reduce(SHMEM_TEAM_WORLD, private, data, 1);
        FAILS("clear-a-free-lock", "shmem_clear_lock") shmem_clear_lock(data);
        FAILS("relocked", "shmem_set_lock") { shmem_set_lock(data); shmem_set_lock(data); } /* rule 13.4 */
    }
    shmem_barrier_all(); /* not reached by all: the job has ended */
    shmem_finalize();
    return 0;
}
