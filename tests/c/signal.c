// pes: 1 2 3 4 7 8
// variants: all
/* Put with signal of every type and size, signal operations, and their order. */
#include "check.h"

enum { N = 9 };
static int me, npes, to, from;
static uint64_t sig; /* rule 8.1 */

#define VALUE(TYPE, pe, form, i) ((TYPE)((pe) * 13 + (form) * 5 + (i) + 1))

/* rule 8.2: data before signal, checked for each form; rule 8.3: both operators */
#define TEST(NAME, TYPE, PUT)                                                             \
    static TYPE dest_##NAME[N];                                                           \
    static void test_##NAME(void)                                                         \
    {                                                                                     \
        TYPE out[N];                                                                      \
        shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                              \
        for (int form = 0; form < 8; form++) {                                            \
            int add = form % 2;                                                           \
            int op = add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;                           \
            sig = 100;                                                                    \
            shmem_barrier_all();                                                          \
            for (int i = 0; i < N; i++)                                                   \
                out[i] = VALUE(TYPE, me, form, i);                                        \
            switch (form / 2) {                                                           \
            case 0: shmem_##PUT(dest_##NAME, out, N, &sig, 7, op, to); break;             \
            case 1: shmem_ctx_##PUT(ctx, dest_##NAME, out, N, &sig, 7, op, to); break;    \
            case 2: shmem_##PUT##_nbi(dest_##NAME, out, N, &sig, 7, op, to); break;       \
            case 3: shmem_ctx_##PUT##_nbi(ctx, dest_##NAME, out, N, &sig, 7, op, to); break; \
            }                                                                             \
            uint64_t want = add ? 107 : 7;                                                \
            /* rule 8.7: returns the value that ended the wait */                         \
            CHECK_EQ(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, want), want);            \
            CHECK_EQ(shmem_signal_fetch(&sig), want); /* rule 8.6 */                      \
            for (int i = 0; i < N; i++)                                                   \
                CHECK_EQ(dest_##NAME[i], VALUE(TYPE, from, form, i));                     \
            shmem_quiet(); /* rule 8.8: completes the signal as well */                   \
            CHECK_EQ(shmem_uint64_g(&sig, to), want);                                     \
            shmem_barrier_all();                                                          \
            /* rule 0.4: no elements, but still a signal */                               \
            shmem_##PUT(NULL, NULL, 0, &sig, 1, SHMEM_SIGNAL_ADD, to);                    \
            shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, want + 1);                        \
            shmem_barrier_all();                                                          \
        }                                                                                 \
    }
#define TYPED(NAME, TYPE) TEST(NAME, TYPE, NAME##_put_signal)
#define SIZED(BITS, TYPE) TEST(BITS, TYPE, put##BITS##_signal)
RMA_TYPES(TYPED)
FIXED_SIZES(SIZED)
SIZED(128, __int128)
SIZED(mem, unsigned char)

/* rule 8.2: a stream of messages, each behind its signal, none torn or early */
static void stream(void)
{
    static long message[16];
    static uint64_t arrived, taken;
    shmem_barrier_all();
    for (uint64_t r = 1; r <= (uint64_t)check_rounds(2000); r++) {
        long out[16];
        for (int i = 0; i < 16; i++)
            out[i] = (long)r * 16 + i;
        shmem_signal_wait_until(&taken, SHMEM_CMP_GE, r - 1);
        shmem_long_put_signal_nbi(message, out, 16, &arrived, r, SHMEM_SIGNAL_SET, to);
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, r);
        for (int i = 0; i < 16; i++)
            CHECK_EQ(message[i], (long)r * 16 + i);
        shmem_quiet();
        shmem_signal_set(&taken, r, from);
    }
}

/* rule 8.4, rule 8.5: updates from everyone, none lost */
static void contended(void)
{
    static uint64_t counter;
    static char byte;
    char out = 'x';
    shmem_barrier_all();
    int rounds = check_rounds(300);
    for (int r = 0; r < rounds; r++) {
        shmem_signal_add(&counter, 2, 0);
        shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &counter, 3, 0);
        shmem_char_put_signal(&byte, &out, 1, &counter, 5, SHMEM_SIGNAL_ADD, 0);
    }
    if (me == 0)
        CHECK_EQ(shmem_signal_wait_until(&counter, SHMEM_CMP_GE, 10 * (uint64_t)(npes * rounds)),
                 10 * (uint64_t)(npes * rounds));
    shmem_barrier_all();
    shmem_signal_set(&counter, 1, to);
    shmem_barrier_all();
    CHECK_EQ(shmem_signal_fetch(&counter), 1);
    shmem_barrier_all();
    shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, &counter, UINT64_MAX, to);
    shmem_barrier_all();
    CHECK_EQ(shmem_signal_fetch(&counter), UINT64_MAX);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    to = (me + 1) % npes;
    from = (me + npes - 1) % npes;
#define RUN(NAME, TYPE) test_##NAME();
    RMA_TYPES(RUN)
    FIXED_SIZES(RUN)
    RUN(128, )
    RUN(mem, )
    stream();
    contended();
    shmem_finalize();
    return 0;
}
