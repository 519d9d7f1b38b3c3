// Maps keep the meaning that OpenMP gives them while their storage comes from a partition, and
// peers reach what is mapped. With an argument, storage is OpenMP's own, and all else the same.
#include <omp.h>
#include <shmemx.h>

#include <cstdint>
#include <cstdio>
#include <vector>

static int wrong;

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            wrong++;                                                         \
            fprintf(stderr, "line %d: failed: %s\n", __LINE__, #condition); \
        }                                                                    \
    } while (0)

struct Shape {
    int n;
    double *p;
    int m;
};

enum { N = 1000 };
static int me, npes, other, before;
static bool symmetric;

static int *storage(int *array)
{
    int *found = nullptr;
    #pragma omp target data use_device_ptr(array)
    found = array;
    return found;
}

static void counts(int *a)
{
    for (int i = 0; i < N; i++)
        a[i] = i;
    #pragma omp target enter data map(to: a[0:N])
    int *first = storage(a);
    CHECK(!symmetric || (first != a && shmemx_partition_of(first) == 1));
    CHECK(!symmetric || shmem_ptr(first, me) == first);
    CHECK(omp_target_is_present(a, 0));
    a[0] = 77;
    #pragma omp target data map(tofrom: a[0:N])
    {
        CHECK(storage(a) == first);
        int value = 0;
        #pragma omp target map(from: value)
        value = a[0];
        CHECK(value == 0); // Not copied a second time.
        #pragma omp target
        a[1] = 55;
    }
    CHECK(a[1] == 1 && a[0] == 77); // Nor copied back while another map lasts.
    #pragma omp target update from(a[1:1])
    CHECK(a[1] == 55);
    #pragma omp target data map(always, tofrom: a[0:2])
    {
        int value = 0;
        #pragma omp target map(from: value)
        value = a[0];
        CHECK(value == 77);
    }
    #pragma omp target exit data map(from: a[0:N])
    CHECK(!omp_target_is_present(a, 0));

    #pragma omp target enter data map(alloc: a[0:N])
    CHECK(!symmetric || storage(a) == first); // The same place again, on all PEs.
    #pragma omp target exit data map(delete: a[0:N])
    CHECK(!omp_target_is_present(a, 0));
    #pragma omp target enter data map(to: a[0:N])
    #pragma omp target enter data map(to: a[0:N])
    #pragma omp target exit data map(release: a[0:N])
    CHECK(omp_target_is_present(a, 0));
    #pragma omp target exit data map(delete: a[0:N])
    CHECK(!omp_target_is_present(a, 0));
}

static void sections(int *a)
{
#if __clang_major__ > 14 // Which fails with sections of its own.
    for (int i = 0; i < N; i++)
        a[i] = i;
    #pragma omp target data map(tofrom: a[100:50])
    {
        #pragma omp target
        a[120] = 9;
    }
    CHECK(a[120] == 9 && a[121] == 121);
    #pragma omp target data map(tofrom: a[100:50])
    {
        int *base = nullptr;
        #pragma omp target data use_device_ptr(a)
        base = a;
        CHECK(!symmetric || shmem_ptr(base + 100, me) != nullptr);
        #pragma omp target data map(tofrom: a[0:50])
        {
            #pragma omp target map(tofrom: a[0:50])
            a[20] = 99;
        }
        CHECK(a[20] == 99);
    }
#else
    (void)a;
#endif
}

static void regions(int *b)
{
    #pragma omp target map(tofrom: b[0:N])
    for (int i = 0; i < N; i++)
        b[i] = i * 2;
    CHECK(b[10] == 20 && !omp_target_is_present(b, 0));
    int sum = 0;
    #pragma omp target data map(to: b[0:N])
    {
        #pragma omp target teams distribute parallel for reduction(+: sum)
        for (int i = 0; i < N; i++)
            sum += b[i];
    }
    CHECK(sum == N * (N - 1));

    double values[3] = {1, 2, 3};
    Shape s = {3, values, 4};
    #pragma omp target data map(tofrom: s, s.p[0:3])
    {
        #pragma omp target
        {
            s.p[1] = s.n + s.m;
            s.m = 8;
        }
    }
    CHECK(values[1] == 7 && s.m == 8);
}

static void peers(int *a)
{
    for (int i = 0; i < N; i++)
        a[i] = me;
    #pragma omp target data map(tofrom: a[0:N])
    {
        shmem_barrier_all();
        #pragma omp target data use_device_ptr(a)
        {
            shmem_int_p(a + 5, 100 + me, other);
            shmem_int_atomic_add(a + 6, 1000, other);
            shmem_barrier_all();
            CHECK(shmem_int_g(a + 5, other) == 100 + me);
        }
        int sum = 0;
        #pragma omp target map(from: sum)
        sum = a[5] + a[6];
        CHECK(sum == 100 + before + me + 1000);
        shmem_barrier_all(); // The end of the region gives the storage away.
    }
    CHECK(a[5] == 100 + before && a[6] == 1000 + me);
}

static void without_waiting(int *a)
{
    for (int i = 0; i < N; i++)
        a[i] = i;
    #pragma omp target enter data map(to: a[0:N]) nowait
    #pragma omp taskwait
    CHECK(!symmetric || shmemx_partition_of(storage(a)) == 1);
    #pragma omp target nowait
    a[3] = 33;
    #pragma omp taskwait
    #pragma omp target exit data map(from: a[0:N]) nowait
    #pragma omp taskwait
    CHECK(a[3] == 33 && a[4] == 4 && !omp_target_is_present(a, 0));
}

// Several threads map arrays of their own and one that they share, at the same time.
static void threads(int *shared)
{
    for (int i = 0; i < N; i++)
        shared[i] = 0;
    int failures = 0;
    #pragma omp parallel num_threads(4) reduction(+: failures)
    for (int round = 0; round < 50; round++) {
        std::vector<int> own(100 + 50 * (round % 3), omp_get_thread_num());
        int *data = own.data(), n = own.size(), at = omp_get_thread_num();
        #pragma omp target data map(tofrom: data[0:n]) map(tofrom: shared[0:N])
        {
            #pragma omp target
            {
                for (int i = 0; i < n; i++)
                    data[i] += 10;
                shared[at]++;
            }
            #pragma omp target update from(data[0:1])
        }
        for (int i = 0; i < n; i++)
            failures += data[i] != at + 10;
    }
    CHECK(failures == 0);
    CHECK(!omp_target_is_present(shared, 0));
}

static void on_request(int *a)
{
    CHECK(shmemx_openmp_maps(0) == 1);
    #pragma omp target enter data map(to: a[0:N])
    CHECK(shmemx_partition_of(storage(a)) == -2);
    #pragma omp target exit data map(delete: a[0:N])
    CHECK(shmemx_openmp_maps(1) == 0);

    CHECK(__tgt_reset_device_allocator(0) == 0);
    #pragma omp target enter data map(to: a[0:N])
    CHECK(shmemx_partition_of(storage(a)) == -2);
    #pragma omp target exit data map(delete: a[0:N])
    CHECK(!omp_target_is_present(a, 0));
}

int main(int argc, char **)
{
    symmetric = argc == 1;
    CHECK(__tgt_set_device_allocator(0, nullptr, nullptr) != 0); // Too early, and said so.
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    other = (me + 1) % npes;
    before = (me + npes - 1) % npes;
    CHECK(!symmetric || __tgt_set_device_allocator(0, nullptr, nullptr) == 0);
    int *a = new int[N], *b = new int[N];
    counts(a);
    sections(a);
    regions(b);
    without_waiting(a);
    threads(a);
    if (symmetric) {
        shmem_barrier_all();
        peers(b);
        on_request(a);
    }
    shmemx_partition_info_t info;
    CHECK(shmemx_partition_info(1, &info) == 0 && info.free == info.size);
    delete[] a;
    delete[] b;
    shmem_finalize();
    return wrong != 0;
}
