// pes: 1 2 3 4 7 8
/* Sized and mem forms, at odd addresses where allowed, 0 to a few MiB. */
#include "check.h"

enum { BIG = 3 << 20 };
static unsigned char window[64 + 16 * 33];
static unsigned char *heap;

static unsigned char byte(int from, int i) { return (unsigned char)(from * 37 + i * 11 + 3); }

/* rule 0.5: elements of exactly that width; rule 6.7: sized forms have no p and g */
#define TEST(BITS)                                                                        \
    static void test_##BITS(int me, int npes)                                             \
    {                                                                                     \
        enum { WIDTH = BITS / 8, N = 5 };                                                 \
        _Alignas(16) unsigned char out[WIDTH * N];                                        \
        _Alignas(16) unsigned char in[WIDTH * N];                                         \
        _Alignas(16) static unsigned char dest[WIDTH * (N + 2)];                          \
        int to = (me + 1) % npes, from = (me + npes - 1) % npes;                          \
        for (int form = 0; form < 4; form++) {                                            \
            memset(dest, 0, sizeof dest);                                                 \
            for (int i = 0; i < WIDTH * N; i++)                                           \
                out[i] = byte(me + form, i);                                              \
            shmem_barrier_all();                                                          \
            unsigned char *d = dest + WIDTH;                                              \
            switch (form) {                                                               \
            case 0: shmem_put##BITS(d, out, N, to); break;                                \
            case 1: shmem_ctx_put##BITS(SHMEM_CTX_DEFAULT, d, out, N, to); break;         \
            case 2: shmem_put##BITS##_nbi(d, out, N, to); break;                          \
            case 3: shmem_ctx_put##BITS##_nbi(SHMEM_CTX_DEFAULT, d, out, N, to); break;   \
            }                                                                             \
            shmem_barrier_all();                                                          \
            for (int i = 0; i < WIDTH * (N + 2); i++)                                     \
                CHECK_EQ(dest[i], i < WIDTH || i >= WIDTH * (N + 1)                       \
                                      ? 0 : byte(from + form, i - WIDTH));                \
            switch (form) {                                                               \
            case 0: shmem_get##BITS(in, d, N, to); break;                                 \
            case 1: shmem_ctx_get##BITS(SHMEM_CTX_DEFAULT, in, d, N, to); break;          \
            case 2: shmem_get##BITS##_nbi(in, d, N, to); shmem_quiet(); break;            \
            case 3: shmem_ctx_get##BITS##_nbi(SHMEM_CTX_DEFAULT, in, d, N, to);           \
                shmem_quiet(); break;                                                     \
            }                                                                             \
            for (int i = 0; i < WIDTH * N; i++)                                           \
                CHECK_EQ(in[i], out[i]);                                                  \
            shmem_barrier_all();                                                          \
        }                                                                                 \
    }
TEST(8)
TEST(16)
TEST(32)
TEST(64)
TEST(128)

/* rule 0.5: mem forms have no alignment and count bytes */
static void test_mem(int me, int npes)
{
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    unsigned char out[33], in[33];
    for (int i = 0; i < 33; i++)
        out[i] = byte(me, i);
    for (int n = 0; n <= 33; n++) {
        memset(window, 0xee, sizeof window);
        shmem_barrier_all();
        switch (n % 4) {
        case 0: shmem_putmem(window + n, out + 33 - n, (size_t)n, to); break;
        case 1: shmem_ctx_putmem(SHMEM_CTX_DEFAULT, window + n, out + 33 - n, (size_t)n, to); break;
        case 2: shmem_putmem_nbi(window + n, out + 33 - n, (size_t)n, to); break;
        case 3: shmem_ctx_putmem_nbi(SHMEM_CTX_DEFAULT, window + n, out + 33 - n, (size_t)n, to); break;
        }
        shmem_barrier_all();
        for (int i = 0; i < 100; i++)
            CHECK_EQ(window[i], i >= n && i < 2 * n ? byte(from, 33 - n + i - n) : 0xee);
        memset(in, 0, sizeof in);
        switch (n % 4) {
        case 0: shmem_getmem(in, window + n, (size_t)n, to); break;
        case 1: shmem_ctx_getmem(SHMEM_CTX_DEFAULT, in, window + n, (size_t)n, to); break;
        case 2: shmem_getmem_nbi(in, window + n, (size_t)n, to); break;
        case 3: shmem_ctx_getmem_nbi(SHMEM_CTX_DEFAULT, in, window + n, (size_t)n, to); break;
        }
        shmem_quiet();
        CHECK(memcmp(in, out + 33 - n, (size_t)n) == 0);
        shmem_barrier_all();
    }
}

static void test_big(int me, int npes)
{
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    unsigned char *out = malloc(BIG);
    for (int i = 0; i < BIG; i++)
        out[i] = byte(me, i);
    shmem_putmem(heap, out, BIG, to);
    shmem_barrier_all();
    for (int i = 0; i < BIG; i++)
        out[i] = byte(from, i);
    CHECK(memcmp(heap, out, BIG) == 0);
    memset(out, 0, BIG);
    shmem_getmem_nbi(out, heap, BIG, to);
    shmem_quiet();
    for (int i = 0; i < BIG; i += 4093)
        CHECK_EQ(out[i], byte(me, i));
    free(out);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    heap = shmem_malloc(BIG);
    CHECK(heap != NULL);
    test_8(me, npes);
    test_16(me, npes);
    test_32(me, npes);
    test_64(me, npes);
    test_128(me, npes);
    test_mem(me, npes);
    test_big(me, npes);
    shmem_finalize();
    return 0;
}
