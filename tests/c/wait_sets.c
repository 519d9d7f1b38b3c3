// pes: 1 2 4 7 8
/* wait and test over arrays: all, any, some, and their vector forms, of every
 * type: masks, empty sets, fairness, indices. */
#include "check.h"

enum { N = 12 };
static int me, npes, to;
static const int none[N]; /* nothing masked */
static const int odd[N] = {0, 1, 0, 5, 0, -1, 0, 1, 0, 1, 0, 1}; /* nonzero: masked; rule 11.5 */
static const int everything[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void unique(const size_t *indices, size_t n, const int *status)
{
    int seen[N] = {0};
    for (size_t i = 0; i < n; i++) {
        CHECK(indices[i] < N);
        CHECK_EQ(seen[indices[i]]++, 0);
        CHECK(status == NULL || status[indices[i]] == 0);
    }
}

#define TEST(NAME, TYPE)                                                                  \
    static TYPE ivars_##NAME[N];                                                          \
    static void test_##NAME(void)                                                         \
    {                                                                                     \
        TYPE *v = ivars_##NAME, want[N];                                                  \
        size_t indices[N];                                                                \
        const int EQ = SHMEM_CMP_EQ;                                                      \
        for (int i = 0; i < N; i++)                                                       \
            want[i] = (TYPE)(i + 1);                                                      \
        /* rule 11.6: nothing to look at */                                               \
        for (int form = 0; form < 3; form++) {                                            \
            size_t n = form == 2 ? N : 0;                                                 \
            const int *mask = form == 2 ? everything : NULL;                              \
            TYPE *some = form ? v : NULL;                                                 \
            shmem_##NAME##_wait_until_all(some, n, mask, EQ, (TYPE)99);                   \
            shmem_##NAME##_wait_until_all_vector(some, n, mask, EQ, want);                \
            CHECK_EQ(shmem_##NAME##_wait_until_any(some, n, mask, EQ, (TYPE)99), SIZE_MAX); \
            CHECK_EQ(shmem_##NAME##_wait_until_any_vector(some, n, mask, EQ, want), SIZE_MAX); \
            CHECK_EQ(shmem_##NAME##_wait_until_some(some, n, indices, mask, EQ, (TYPE)99), 0); \
            CHECK_EQ(shmem_##NAME##_wait_until_some_vector(some, n, indices, mask, EQ, want), 0); \
            CHECK_EQ(shmem_##NAME##_test_all(some, n, mask, EQ, (TYPE)99), 1);            \
            CHECK_EQ(shmem_##NAME##_test_all_vector(some, n, mask, EQ, want), 1);         \
            CHECK_EQ(shmem_##NAME##_test_any(some, n, mask, EQ, (TYPE)99), SIZE_MAX);     \
            CHECK_EQ(shmem_##NAME##_test_any_vector(some, n, mask, EQ, want), SIZE_MAX);  \
            CHECK_EQ(shmem_##NAME##_test_some(some, n, indices, mask, EQ, (TYPE)99), 0);  \
            CHECK_EQ(shmem_##NAME##_test_some_vector(some, n, indices, mask, EQ, want), 0); \
        }                                                                                 \
        /* rule 11.7: not satisfied */                                                    \
        CHECK_EQ(shmem_##NAME##_test_all(v, N, none, EQ, (TYPE)5), 0);                    \
        CHECK_EQ(shmem_##NAME##_test_any(v, N, NULL, EQ, (TYPE)5), SIZE_MAX);             \
        CHECK_EQ(shmem_##NAME##_test_some(v, N, indices, odd, EQ, (TYPE)5), 0);           \
        shmem_barrier_all();                                                              \
        /* the neighbour fills in the even places, then the odd ones */                   \
        for (int i = 0; i < N; i += 2)                                                    \
            shmem_##NAME##_atomic_set(&v[i], (TYPE)(i + 1), to);                          \
        shmem_##NAME##_wait_until_all_vector(v, N, odd, EQ, want);                        \
        CHECK_EQ(shmem_##NAME##_test_all(v, N, odd, SHMEM_CMP_NE, (TYPE)0), 1);           \
        CHECK_EQ(shmem_##NAME##_test_all(v, N, none, SHMEM_CMP_NE, (TYPE)0), 0);          \
        CHECK_EQ(shmem_##NAME##_test_all_vector(v, N, odd, EQ, want), 1);                 \
        CHECK_EQ(shmem_##NAME##_test_all_vector(v, N, NULL, EQ, want), 0);                \
        CHECK_EQ(shmem_##NAME##_test_any(v, N, NULL, EQ, (TYPE)5), 4);                    \
        CHECK_EQ(shmem_##NAME##_wait_until_any(v, N, odd, EQ, (TYPE)7), 6);               \
        CHECK_EQ(shmem_##NAME##_test_any_vector(v, N, odd, SHMEM_CMP_NE, want), SIZE_MAX); \
        /* rule 11.9: all that hold, once each; rule 11.11: a value for each element */   \
        CHECK_EQ(shmem_##NAME##_test_some_vector(v, N, indices, NULL, EQ, want), N / 2);  \
        unique(indices, N / 2, odd);                                                      \
        CHECK_EQ(shmem_##NAME##_wait_until_some_vector(v, N, indices, odd, EQ, want), N / 2); \
        unique(indices, N / 2, odd);                                                      \
        CHECK_EQ(shmem_##NAME##_test_some(v, N, indices, none, EQ, (TYPE)3), 1);          \
        CHECK_EQ(indices[0], 2);                                                          \
        CHECK_EQ(shmem_##NAME##_wait_until_some(v, N, indices, none, EQ, (TYPE)3), 1);    \
        /* rule 11.8: asked again and again, any tells of each in turn */                 \
        int told[N] = {0};                                                                \
        for (int again = 0; again < 16 * N; again++) {                                     \
            size_t i = again % 2 ? shmem_##NAME##_wait_until_any(v, N, NULL, SHMEM_CMP_NE, (TYPE)0) \
                                 : shmem_##NAME##_test_any_vector(v, N, none, EQ, want);  \
            CHECK(i < N && i % 2 == 0);                                                   \
            told[i]++;                                                                    \
        }                                                                                 \
        for (int i = 0; i < N; i += 2)                                                    \
            CHECK(told[i] > 0);                                                           \
        shmem_barrier_all();                                                              \
        /* rule 11.10: the caller masks what it has seen */                               \
        int status[N] = {0};                                                              \
        for (int i = 1; i < N; i += 2)                                                    \
            shmem_##NAME##_atomic_add(&v[i], (TYPE)(i + 1), to);                          \
        for (int count = 0; count < N; count++) {                                         \
            size_t i = shmem_##NAME##_wait_until_any_vector(v, N, status, EQ, want);      \
            CHECK(i < N && status[i] == 0);                                               \
            status[i] = 1;                                                                \
        }                                                                                 \
        CHECK_EQ(shmem_##NAME##_wait_until_any_vector(v, N, status, EQ, want), SIZE_MAX); \
        memset(status, 0, sizeof status);                                                 \
        for (size_t count = 0; count < N;) {                                              \
            size_t n = shmem_##NAME##_wait_until_some(v, N, indices, status, SHMEM_CMP_GT, (TYPE)0); \
            CHECK(n >= 1 && count + n <= N);                                              \
            unique(indices, n, status);                                                   \
            for (size_t i = 0; i < n; i++)                                                \
                status[indices[i]] = 1;                                                   \
            count += n;                                                                   \
        }                                                                                 \
        shmem_##NAME##_wait_until_all(v, N, NULL, SHMEM_CMP_GE, (TYPE)1);                 \
        CHECK_EQ(shmem_##NAME##_test_all(v, N, NULL, SHMEM_CMP_LE, (TYPE)N), 1);          \
        shmem_barrier_all();                                                              \
    }
AMO_STD(TEST)

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    to = (me + 1) % npes;
#define RUN(NAME, TYPE) test_##NAME();
    AMO_STD(RUN)
    shmem_finalize();
    return 0;
}
