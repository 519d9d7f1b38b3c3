// Product of two matrices of floats: each PE has a stripe of rows of A and C and a stripe of columns of B, and the
// stripes of B travel around the ring of PEs, while each multiplies what it has. The size is the rows of a stripe.
#include "app.h"
#include "work.h"

int main(int argc, char **argv)
{
    App app("ring product", argc, argv, 64);
    const int me = app.me, npes = app.npes;
    const long S = app.size, N = S * npes;
    const size_t n = N * S;
    auto A = new float[n], C = new float[n]();
    auto B = app.array<float>(n), D = app.array<float>(n);
    fill_stripes(A, B, S, N, me);
    #pragma omp target data map(to: A[0:n], B[0:n]) map(tofrom: C[0:n]) map(alloc: D[0:n])
    {
        app.begin();
        for (int step = 0; step < npes; step++) {
            const int stripe = (me + step) % npes, neighbour = (me + 1) % npes;
            const bool is_last = step == npes - 1;
            if (!is_last && app.extended) {
                #pragma omp target data use_device_ptr(B, D)
                shmem_getmem_nbi(D, B, n * sizeof(float), neighbour);
            }
            multiply(A, B, C, S, N, stripe);
            if (!is_last && !app.extended) {
                #pragma omp target update from(B[0:n])
                shmem_barrier_all();
                shmem_getmem(D, B, n * sizeof(float), neighbour);
                #pragma omp target update to(D[0:n])
            }
            shmem_quiet();
            shmem_barrier_all();
            std::swap(B, D);
        }
        app.end();
    }
    const long wrong = wrong_products(C, S, N, me);
    // Each PE has swapped as often, so these are the same arrays everywhere.
    app.release(B);
    app.release(D);
    delete[] A;
    delete[] C;
    return app.report(2.0 * N * N * N, "operations", wrong);
}
