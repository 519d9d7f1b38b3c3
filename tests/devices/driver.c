/* What operations ask the driver for: on a device's memory one wait each, whatever they move, and nothing at all on the
 * processor's. The imitation counts, and copies only when it is waited for. */
#include "../c/check.h"
#include <dlfcn.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long (*calls)(const char *);
static const char *const counted[] = {"copy", "copy_2d", "set", "kernel", "wait", "attribute"};
enum { KINDS = sizeof counted / sizeof *counted, COUNT = 1000 };
static long before[KINDS];

static void start(void)
{
    for (int i = 0; i < KINDS; i++)
        before[i] = calls(counted[i]);
}

/* What the driver was asked for since `start`. */
static void expect(int line, long copies, long copies_2d, long sets, long kernels, long waits)
{
    const long expected[] = {copies, copies_2d, sets, kernels, waits};
    for (int i = 0; i < KINDS - 1; i++)
        if (calls(counted[i]) - before[i] != expected[i]) {
            fprintf(stderr, "line %d: %ld calls of %s, expected %ld\n", line,
                    calls(counted[i]) - before[i], counted[i], expected[i]);
            abort();
        }
    start();
}
#define ASKED(...) expect(__LINE__, __VA_ARGS__)
#define NOTHING ASKED(0, 0, 0, 0, 0)

static long host[COUNT], other[COUNT];
static uint64_t flag;

int main(void)
{
    shmem_init();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver != NULL);
    *(void **)&calls = dlsym(driver, "imitation_calls");
    CHECK(calls != NULL && calls("nonsense") == -1);
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes, last = (me + npes - 1) % npes;
    int by_blocks = getenv("IMITATION_PITCH") != NULL;
    long *block = shmemx_partition_calloc(COUNT, sizeof(long), 1);
    long *heap = shmem_calloc(COUNT, sizeof(long)), on_stack[8] = {1, 2, 3};
    long *private = malloc(COUNT * sizeof(long));
    CHECK(block != NULL && heap != NULL && private != NULL);
    shmem_barrier_all();
    start();

    /* Values that fit travel with the command. */
    shmem_char_p((char *)block + 1, 1, next);
    ASKED(0, 0, 1, 0, 1);
    shmem_short_p((short *)block + 1, 2, next);
    ASKED(0, 0, 1, 0, 1);
    shmem_int_p((int *)block + 1, 3, next);
    ASKED(0, 0, 1, 0, 1);
    shmem_long_p(block + 1, -1, next);
    ASKED(0, 0, 1, 0, 1);
    shmem_long_p(block + 2, 7, next);
    ASKED(1, 0, 0, 0, 1);
    shmem_double_p((double *)block + 3, 0, next);
    ASKED(0, 0, 1, 0, 1);
    shmem_int_p((int *)((char *)(block + 4) + 1), 0x01020304, next); /* refused: not aligned */
    ASKED(1, 0, 1, 0, 1);
    shmem_barrier_all();
    char bytes[5 * sizeof(long)], expected[sizeof bytes] = {0};
    shmem_getmem(bytes, block, sizeof bytes, me);
    memcpy(expected + 1, &(char){1}, 1);
    memcpy(expected + 2, &(short){2}, 2);
    memcpy(expected + 4, &(int){3}, 4);
    memcpy(expected + 8, (long[]){-1, 7, 0}, 24);
    memcpy(expected + 33, &(int){0x01020304}, 4);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    shmem_barrier_all();
    start();

    /* Strides are one command where the device takes their distance. */
    for (int i = 0; i < COUNT; i++)
        host[i] = me * 10000 + i;
    shmem_long_iput(block, host, 3, 2, 100, next);
    ASKED(by_blocks ? 100 : 0, 1, 0, 0, 1);
    shmem_barrier_all();
    shmem_long_iget(other, block, 2, 3, 100, me);
    start();
    for (int i = 0; i < 100; i++)
        CHECK_EQ(other[2 * i], last * 10000 + 2 * i);
    shmem_long_iput(block, host, 1, 1, 100, me);
    ASKED(1, 0, 0, 0, 1);
    shmem_long_iget(other, block, 1, 2, 50, me);
    ASKED(by_blocks ? 50 : 0, 1, 0, 0, 1);
    CHECK_EQ(other[49], me * 10000 + 98);
    shmem_barrier_all();
    start();

    /* What nonblocking gets bring comes until quiet, a barrier, the end of a context or of a lock. */
    shmem_ctx_t ctx;
    static long lock;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    for (int end = 0; end < 4; end++) {
        memset(other, 0xff, sizeof other);
        start();
        for (int i = 0; i < 10; i++)
            shmem_long_get_nbi(other + i, block + i, 1, me);
        ASKED(10, 0, 0, 0, 0);
        CHECK_EQ(((volatile long *)other)[9], -1);
        switch (end) {
        case 0: shmem_quiet(); break;
        case 1: shmem_barrier_all(); break;
        case 2: shmem_ctx_quiet(ctx); break;
        default: shmem_set_lock(&lock); shmem_clear_lock(&lock);
        }
        ASKED(0, 0, 0, 0, 1);
        for (int i = 0; i < 10; i++)
            CHECK_EQ(other[i], me * 10000 + i);
        shmem_quiet();
        NOTHING;
    }
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    start();
    /* A put is over at its return, so that a fence orders even plain stores after it. */
    shmem_long_put_nbi(block, host, 10, next);
    ASKED(1, 0, 0, 0, 1);
    shmem_barrier_all();
    start();

    shmem_long_atomic_add(block, 1, next);
    ASKED(0, 0, 0, 1, 1);
    (void)shmem_long_atomic_fetch_add(block, 1, next);
    ASKED(1, 0, 0, 1, 1);
    shmem_barrier_all();
    start();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, block + 100, block, 2);
    ASKED(npes, 0, 0, 0, 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block + 200, block, 2);
    ASKED(npes + 1, 0, 0, 0, 2);
    shmem_barrier_all();

    /* Memory of the processor: the driver is not asked, but for whose a private pointer is. */
    start();
    shmem_long_p(heap, 1, next);
    (void)shmem_long_g(heap, next);
    shmem_long_atomic_inc(heap + 1, next);
    (void)shmem_long_atomic_fetch(host, next);
    shmem_long_put(heap + 8, host + 8, 2, next);
    shmem_long_put(heap + 8, on_stack, 3, next);
    shmem_long_put(heap + 100, host + 100, 500, next);
    shmem_long_get(heap + 8, host + 8, 2, next);
    shmem_long_iput(heap, host, 2, 2, 50, next);
    shmem_long_put_signal(heap + 8, host + 8, 2, &flag, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, host, 2);
    shmem_barrier_all();
    CHECK_EQ(calls("attribute"), before[KINDS - 1]);
    NOTHING;
    shmem_long_put(heap + 8, private, 2, next);
    CHECK(calls("attribute") == before[KINDS - 1] + 1);
    NOTHING;
    free(private);
    shmem_finalize();
    return 0;
}
