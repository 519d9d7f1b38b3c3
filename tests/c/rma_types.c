// pes: 1 2 3 4 7 8
// variants: all
/* Contiguous put and get, p and g, blocking and not, of every type, with and
 * without a context, between data segment, heap and private memory. */
#include "check.h"

enum { N = 13 };

#define DATA(NAME, TYPE) static TYPE data_##NAME[MAX_PES * N];
RMA_TYPES(DATA)

/* What PE `from` sends to PE `to` as element i. */
#define VALUE(TYPE, from, to, i) ((TYPE)((from) * 31 + (to) * 7 + (i) + 1))

#define TEST(NAME, TYPE)                                                                  \
    static void clear_##NAME(TYPE *object)                                                \
    {                                                                                     \
        shmem_barrier_all();                                                              \
        for (int i = 0; i < MAX_PES * N; i++)                                             \
            object[i] = 0;                                                                \
        shmem_barrier_all();                                                              \
    }                                                                                     \
    static void arrived_##NAME(TYPE *object, int me, int npes, int n)                     \
    {                                                                                     \
        shmem_barrier_all();                                                              \
        for (int pe = 0; pe < npes; pe++)                                                 \
            for (int i = 0; i < N; i++)                                                   \
                CHECK_EQ(object[pe * N + i], i < n ? VALUE(TYPE, pe, me, i) : (TYPE)0);   \
    }                                                                                     \
    static void test_##NAME(TYPE *object, int me, int npes)                               \
    {                                                                                     \
        TYPE out[N], in[N];                                                               \
        for (int form = 0; form < 4; form++) {                                            \
            clear_##NAME(object);                                                         \
            for (int pe = 0; pe < npes; pe++) { /* rule 6.8: also to itself */            \
                TYPE *dest = &object[me * N];                                             \
                TYPE nbi[N]; /* in use until quiet; rule 6.4 */                           \
                for (int i = 0; i < N; i++)                                               \
                    nbi[i] = out[i] = VALUE(TYPE, me, pe, i);                             \
                switch (form) {                                                           \
                case 0: shmem_##NAME##_put(dest, out, N, pe); break;                      \
                case 1: shmem_ctx_##NAME##_put(SHMEM_CTX_DEFAULT, dest, out, N, pe); break; \
                case 2: shmem_##NAME##_put_nbi(dest, nbi, N, pe); shmem_quiet(); break;   \
                case 3: shmem_ctx_##NAME##_put_nbi(SHMEM_CTX_DEFAULT, dest, nbi, N, pe);  \
                    shmem_ctx_quiet(SHMEM_CTX_DEFAULT); break;                            \
                }                                                                         \
                memset(out, 0, sizeof out); /* rule 6.1: reusable on return */            \
            }                                                                             \
            arrived_##NAME(object, me, npes, N);                                          \
            for (int pe = 0; pe < npes; pe++) {                                           \
                const TYPE *source = &object[me * N];                                     \
                memset(in, 0, sizeof in);                                                 \
                switch (form) {                                                           \
                case 0: shmem_##NAME##_get(in, source, N, pe); break;                     \
                case 1: shmem_ctx_##NAME##_get(SHMEM_CTX_DEFAULT, in, source, N, pe); break; \
                case 2: shmem_##NAME##_get_nbi(in, source, N, pe); shmem_quiet(); break;  \
                case 3: shmem_ctx_##NAME##_get_nbi(SHMEM_CTX_DEFAULT, in, source, N, pe); \
                    shmem_ctx_quiet(SHMEM_CTX_DEFAULT); break;                            \
                }                                                                         \
                for (int i = 0; i < N; i++) /* rule 6.2: there on return */               \
                    CHECK_EQ(in[i], VALUE(TYPE, me, pe, i));                              \
            }                                                                             \
        }                                                                                 \
        for (int form = 0; form < 2; form++) {                                            \
            clear_##NAME(object);                                                         \
            for (int pe = 0; pe < npes; pe++) {                                           \
                if (form)                                                                 \
                    shmem_ctx_##NAME##_p(SHMEM_CTX_DEFAULT, &object[me * N],              \
                                         VALUE(TYPE, me, pe, 0), pe);                     \
                else                                                                      \
                    shmem_##NAME##_p(&object[me * N], VALUE(TYPE, me, pe, 0), pe);        \
            }                                                                             \
            arrived_##NAME(object, me, npes, 1);                                          \
            for (int pe = 0; pe < npes; pe++) {                                           \
                CHECK_EQ(shmem_##NAME##_g(&object[me * N], pe), VALUE(TYPE, me, pe, 0));  \
                CHECK_EQ(shmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, &object[me * N], pe),    \
                         VALUE(TYPE, me, pe, 0));                                         \
            }                                                                             \
        }                                                                                 \
        /* rule 0.4: nothing moves, whatever the pointers are */                          \
        clear_##NAME(object);                                                             \
        shmem_##NAME##_put(object, out, 0, me);                                           \
        shmem_##NAME##_put(NULL, NULL, 0, npes - 1);                                      \
        shmem_##NAME##_get(NULL, NULL, 0, npes - 1);                                      \
        shmem_##NAME##_put_nbi(NULL, NULL, 0, me);                                        \
        shmem_##NAME##_get_nbi(NULL, NULL, 0, me);                                        \
        arrived_##NAME(object, me, npes, 0);                                              \
    }
RMA_TYPES(TEST)

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    /* rule 0.8, rule 6.5: data segment and heap are symmetric, the other side is private */
#define RUN(NAME, TYPE)                                                                   \
    test_##NAME(data_##NAME, me, npes);                                                   \
    {                                                                                     \
        TYPE *heap = (TYPE *)shmem_malloc(MAX_PES * N * sizeof(TYPE));                    \
        CHECK(heap != NULL);                                                              \
        test_##NAME(heap, me, npes);                                                      \
        shmem_free(heap);                                                                 \
    }
    RMA_TYPES(RUN)
    shmem_finalize();
    return 0;
}
