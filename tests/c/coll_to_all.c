// pes: 1 2 3 4 7 8
// inline: no
/* The reductions over active sets, every type and operation, in place and not, with
 * the smallest work arrays allowed. rule 10c.1, rule 10d.5 */
#include "coll.h"

enum { N = 12, WRK = N / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? N / 2 + 1
                                                              : SHMEM_REDUCE_MIN_WRKDATA_SIZE };
static long psync[2][SHMEM_REDUCE_SYNC_SIZE], barrier_psync[SHMEM_BARRIER_SYNC_SIZE];
static int me, npes;

#define OPERAND(TYPE, pe, i) VALUE(TYPE, pe, i)
#define REDUCTION(NAME, op) shmem_##NAME##_##op##_to_all

#define TEST(NAME, TYPE, OP, CALL, OPERAND)                                               \
    static TYPE source_##NAME##OP[N], dest_##NAME##OP[N], pwrk_##NAME##OP[WRK + 1];       \
    static void test_##NAME##OP(void)                                                     \
    {                                                                                     \
        int call = 0;                                                                     \
        for (int log_stride = 0; log_stride < 2; log_stride++)                            \
            for (int start = 0; start < npes && start < 2; start++)                       \
                for (int in_place = 0; in_place < 2; in_place++, call++) {                \
                    int stride = 1 << log_stride, size = (npes - start + stride - 1) / stride; \
                    TYPE *dest = in_place ? source_##NAME##OP : dest_##NAME##OP; /* rule 10c.2 */ \
                    shmem_barrier_all(); /* other members used these arrays before */     \
                    if (me < start || (me - start) % stride)                              \
                        continue;                                                         \
                    for (int i = 0; i < N; i++)                                           \
                        source_##NAME##OP[i] = OPERAND(TYPE, me, i);                      \
                    pwrk_##NAME##OP[WRK] = (TYPE)42;                                      \
                    shmem_barrier(start, log_stride, size, barrier_psync);                \
                    CALL(dest, source_##NAME##OP, N, start, log_stride, size,             \
                         pwrk_##NAME##OP, psync[call % 2]);                               \
                    for (int i = 0; i < N; i++) {                                         \
                        TYPE want = OPERAND(TYPE, start, i);                              \
                        for (int pe = start + stride; pe < npes; pe += stride)            \
                            want = (TYPE)OP(want, OPERAND(TYPE, pe, i));                  \
                        CHECK_EQ(dest[i], want);                                          \
                    }                                                                     \
                    CHECK_EQ(pwrk_##NAME##OP[WRK], (TYPE)42);                             \
                    CALL(dest, dest, 0, start, log_stride, size, pwrk_##NAME##OP,         \
                         psync[(call + 1) % 2]); /* rule 0.4 */                           \
                    shmem_barrier(start, log_stride, size, barrier_psync);                \
                }                                                                         \
        shmem_barrier_all();                                                              \
    }
TO_ALL_BIT(BITWISE)
TO_ALL_ORDER(ORDER)
TO_ALL_ARITHMETIC(ARITHMETIC)

int main(void)
{
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        barrier_psync[i] = SHMEM_SYNC_VALUE;
    start_pes(0); /* as the programs that use these routines do */
    me = _my_pe();
    npes = _num_pes();
#define RUN_BIT(NAME, TYPE) test_##NAME##AND(); test_##NAME##OR(); test_##NAME##XOR();
#define RUN_ORDER(NAME, TYPE) test_##NAME##MAX(); test_##NAME##MIN();
#define RUN_ARITHMETIC(NAME, TYPE) test_##NAME##SUM(); test_##NAME##PROD();
    TO_ALL_BIT(RUN_BIT)
    TO_ALL_ORDER(RUN_ORDER)
    TO_ALL_ARITHMETIC(RUN_ARITHMETIC)
    return 0;
}
