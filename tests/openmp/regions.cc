// Puts and a reduction between arrays that OpenMP has mapped, and kernels that use what came.
#include <shmemx.h>

#include <cstdint>
#include <cstdio>

static long psync[SHMEM_REDUCE_SYNC_SIZE];
static float pwrk[1 << 16];

int main()
{
    enum { M = 100000, N = 5000 };
    shmem_init();
    for (auto &word : psync)
        word = SHMEM_SYNC_VALUE;
    int me = shmem_my_pe(), npes = shmem_n_pes(), wrong = 0;
    if (__tgt_set_shmem_allocator(shmem_partition_malloc, shmem_partition_free, 0) != 0)
        return 1;
    auto X = new float[M](), U = new float[N](), V = new float[N]();
    for (int i = 0; i < M; i++)
        X[i] = me * 1000 + i % 100;
    shmem_barrier_all();
    #pragma omp target data map(tofrom: X[0:M]) map(from: U[0:N], V[0:N])
    {
        #pragma omp target teams distribute parallel for
        for (int i = 0; i < M; i++)
            X[i] += 0.5f;
        shmem_barrier_all();
        if (me == 0) {
            #pragma omp target data use_device_ptr(X)
            shmem_float_put(X, X, M / 2, npes - 1);
        }
        shmem_barrier_all();
        #pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            V[i] = X[i] + me;
        #pragma omp target data use_device_ptr(U, V)
        {
            shmem_barrier_all();
            shmem_float_sum_to_all(U, V, N, 0, 0, npes, pwrk, psync);
            shmem_barrier_all();
        }
        #pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            U[i] *= 2;
    }
    auto source = [&](int pe) { return pe == npes - 1 ? 0 : pe; };
    for (int i = 0; i < M; i++)
        wrong += X[i] != (i < M / 2 ? source(me) : me) * 1000 + i % 100 + 0.5f;
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int pe = 0; pe < npes; pe++)
            sum += source(pe) * 1000 + i % 100 + 0.5f + pe;
        wrong += U[i] != 2 * sum;
    }
    if (wrong != 0)
        fprintf(stderr, "PE %d: %d elements are wrong\n", me, wrong);
    shmem_finalize();
    return wrong != 0;
}
