// pes: 1 2 3 4 7 8
/* rule 6.6: iput, iget, ibput, ibget of every type and size with random strides,
 * against the definition. */
#include "check.h"

enum { ROOM = 400, ROUNDS = 12 };

struct shape {
    ptrdiff_t dst, sst;
    size_t bsize, nblocks;
};

/* A block-strided shape that fits; every block size and every stride occurs. */
static struct shape random_shape(uint64_t *seed, int blocks)
{
    struct shape s;
    s.bsize = blocks ? 1 + check_random(seed, 7) : 1;
    s.dst = (ptrdiff_t)(s.bsize + check_random(seed, 5));
    s.sst = (ptrdiff_t)(s.bsize + check_random(seed, 5));
    s.nblocks = check_random(seed, 30); /* also none: rule 0.4 */
    return s;
}

static int expected_source(struct shape s, int place)
{
    int block = place / (int)s.dst, within = place % (int)s.dst;
    return block < (int)s.nblocks && within < (int)s.bsize ? block * (int)s.sst + within : -1;
}

#define VALUE(TYPE, pe, i) ((TYPE)((pe) * 17 + (i) % 101 + 1))

#define TEST(NAME, TYPE, IPUT, IGET, IBPUT, IBGET)                                        \
    static TYPE remote_##NAME[ROOM], source_##NAME[ROOM];                                 \
    static void test_##NAME(int me, int npes, uint64_t seed)                              \
    {                                                                                     \
        TYPE local[ROOM];                                                                 \
        int to = (me + 1) % npes, from = (me + npes - 1) % npes;                          \
        for (int i = 0; i < ROOM; i++)                                                    \
            source_##NAME[i] = VALUE(TYPE, me, i);                                        \
        for (int round = 0; round < ROUNDS; round++) {                                    \
            struct shape s = random_shape(&seed, round % 2);                              \
            int ctx = round / 2 % 2;                                                      \
            for (int i = 0; i < ROOM; i++)                                                \
                remote_##NAME[i] = local[i] = 0;                                          \
            shmem_barrier_all();                                                          \
            if (round % 2) {                                                              \
                if (ctx) {                                                                \
                    shmem_ctx_##IBPUT(SHMEM_CTX_DEFAULT, remote_##NAME, source_##NAME,    \
                                      s.dst, s.sst, s.bsize, s.nblocks, to);              \
                    shmem_ctx_##IBGET(SHMEM_CTX_DEFAULT, local, source_##NAME, s.dst,     \
                                      s.sst, s.bsize, s.nblocks, to);                     \
                } else {                                                                  \
                    shmem_##IBPUT(remote_##NAME, source_##NAME, s.dst, s.sst, s.bsize,    \
                                  s.nblocks, to);                                         \
                    shmem_##IBGET(local, source_##NAME, s.dst, s.sst, s.bsize, s.nblocks, \
                                  to);                                                    \
                }                                                                         \
            } else if (ctx) {                                                             \
                shmem_ctx_##IPUT(SHMEM_CTX_DEFAULT, remote_##NAME, source_##NAME, s.dst,  \
                                 s.sst, s.nblocks, to);                                   \
                shmem_ctx_##IGET(SHMEM_CTX_DEFAULT, local, source_##NAME, s.dst, s.sst,   \
                                 s.nblocks, to);                                          \
            } else {                                                                      \
                shmem_##IPUT(remote_##NAME, source_##NAME, s.dst, s.sst, s.nblocks, to);  \
                shmem_##IGET(local, source_##NAME, s.dst, s.sst, s.nblocks, to);          \
            }                                                                             \
            shmem_barrier_all();                                                          \
            for (int i = 0; i < ROOM; i++) {                                              \
                int j = expected_source(s, i);                                            \
                CHECK_EQ(remote_##NAME[i], j < 0 ? (TYPE)0 : VALUE(TYPE, from, j));       \
                CHECK_EQ(local[i], j < 0 ? (TYPE)0 : VALUE(TYPE, to, j));                 \
            }                                                                             \
            shmem_barrier_all();                                                          \
        }                                                                                 \
    }
#define TYPED(NAME, TYPE) TEST(NAME, TYPE, NAME##_iput, NAME##_iget, NAME##_ibput, NAME##_ibget)
#define SIZED(BITS, TYPE) TEST(BITS, TYPE, iput##BITS, iget##BITS, ibput##BITS, ibget##BITS)
RMA_TYPES(TYPED)
FIXED_SIZES(SIZED)
SIZED(128, __int128)

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
#define RUN(NAME, TYPE) test_##NAME(me, npes, check_seed());
    RMA_TYPES(RUN)
    FIXED_SIZES(RUN)
    RUN(128, )
    shmem_finalize();
    return 0;
}
