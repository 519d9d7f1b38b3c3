// pes: 2 3
/* The bytes of stack that a routine needs are few, so that threads may have the smallest stacks, of 16 KiB. Each
 * routine runs on a painted stack. The documents say what a release needs; other builds need more. */
#include "check.h"
#include <ucontext.h>

enum { STACK = 256 << 10, N = 3000 };
static long source[N], dest[N * MAX_PES], work[N], flag, lock;
static long psync[SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE];
static long double longs[N], long_dest[N];
static uint64_t sig;
static int right, npes;
static ucontext_t back;

#define ROUTINES(X)                                                                      \
    X(init, shmem_init(); shmem_finalize())                                              \
    X(put, shmem_putmem(dest, source, sizeof source, right))                             \
    X(get, shmem_getmem(dest, source, sizeof source, right))                             \
    X(put_nbi, shmem_long_put_nbi(dest, source, N, right); shmem_quiet())                \
    X(iput, shmem_long_iput(dest, source, 2, 3, 100, right))                             \
    X(atomics, shmem_long_atomic_fetch_add(&flag, 1, right))                             \
    X(signal, shmem_long_put_signal(dest, source, N, &sig, 1, SHMEM_SIGNAL_SET, right); \
              shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1))                            \
    X(lock, shmem_set_lock(&lock); shmem_clear_lock(&lock))                              \
    X(malloc, shmem_free(shmem_malloc(100000)))                                          \
    X(realloc, shmem_free(shmem_realloc(shmem_calloc(10, 10), 100000)))                  \
    X(context, shmem_ctx_t ctx; CHECK_EQ(shmem_ctx_create(0, &ctx), 0); shmem_ctx_destroy(ctx)) \
    X(team, shmem_team_t team;                                                           \
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);   \
            shmem_team_destroy(team))                                                    \
    X(barrier, shmem_barrier_all())                                                      \
    X(broadcast, EACH(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, n, 0)))                 \
    X(collect, EACH(shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, n)))                        \
    X(fcollect, EACH(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, n)))                      \
    X(alltoall, EACH(shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, n / MAX_PES)))            \
    X(alltoalls, EACH(shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 1, n / MAX_PES)))    \
    X(reduce, EACH(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n)))                      \
    X(reduce_in_c, EACH(shmem_longdouble_max_reduce(SHMEM_TEAM_WORLD, long_dest, longs, n)))       \
    X(inscan, EACH(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n)))                      \
    X(exscan, EACH(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest, source, n)))                      \
    X(to_all, EACH(shmem_long_sum_to_all(dest, source, (int)n, 0, 0, npes, work, psync); \
                   shmem_barrier_all()))
#define EACH(call) do { const size_t n = *size; call; } while (++size < sizes + 4)
static const size_t sizes[] = {1, 16, 300, N};

#define FUNCTION(NAME, ...) static void NAME(void) { const size_t *size = sizes; (void)size; __VA_ARGS__; }
#define LINE(NAME, ...) {#NAME, test_##NAME},
#define TEST(NAME, ...) FUNCTION(test_##NAME, __VA_ARGS__)
ROUTINES(TEST)
static const struct { const char *name; void (*call)(void); } routines[] = {ROUTINES(LINE)};

int main(void)
{
    shmem_init();
    npes = shmem_n_pes();
    right = (shmem_my_pe() + 1) % npes;
    for (size_t i = 0; i < sizeof psync / sizeof *psync; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    unsigned char *stack = aligned_alloc(4096, STACK);
    CHECK(stack != NULL);
    int most = 16 << 10, over = 0;
    for (int pe = 0; pe < npes; pe++)
        if (shmem_ptr(source, pe) == NULL)
            most = 64 << 10; /* on another node: what carries messages runs on this stack, too */
    for (size_t r = 0; r < sizeof routines / sizeof *routines; r++) {
        ucontext_t context;
        shmem_barrier_all();
        memset(stack, 0x5a, STACK);
        CHECK_EQ(getcontext(&context), 0);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = &back;
        makecontext(&context, routines[r].call, 0);
        CHECK_EQ(swapcontext(&back, &context), 0);
        int untouched = 0;
        while (stack[untouched] == 0x5a)
            untouched++;
        if (shmem_my_pe() == 0)
            printf("%s: %d bytes\n", routines[r].name, STACK - untouched);
        over += STACK - untouched > most;
    }
    CHECK_EQ(over, 0);
    free(stack);
    shmem_finalize();
    return 0;
}
