// Heat in a cube of size x size x size points: each PE has a slab of planes and gets the planes beside it from its
// neighbours before each step.
#include "app.h"

#include <utility>
#include <vector>

static const int STEPS = 20;

static double initial(long z, long y, long x)
{
    return (z * 31 + y * 17 + x * 7) % 101;
}

#pragma omp declare target
static double step(const double *from, size_t at, size_t row, size_t plane)
{
    return from[at] + 0.1 * (from[at - 1] + from[at + 1] + from[at - row] + from[at + row] + from[at - plane] +
                             from[at + plane] - 6 * from[at]);
}
#pragma omp end declare target

int main(int argc, char **argv)
{
    App app("heat 3-D", argc, argv, 32);
    const long N = app.size, me = app.me, npes = app.npes;
    const long row = N + 2, plane = row * row;
    // The points of the boundary stay zero, here as the first and last of each direction.
    const long first = N * me / npes, last = N * (me + 1) / npes, planes = last - first;
    if (N < npes)
        app.fail("expected a size of at least the number of PEs");
    // Alike on all PEs, which symmetric arrays have to be.
    const size_t n = plane * ((N + npes - 1) / npes + 2);
    auto old = app.array<double>(n), fresh = app.array<double>(n);
    for (long z = 1; z <= planes; z++)
        for (long y = 1; y <= N; y++)
            for (long x = 1; x <= N; x++)
                old[z * plane + y * row + x] = initial(first + z, y, x);
    const long below_has = N * me / npes - (me > 0 ? N * (me - 1) / npes : 0);
    #pragma omp target data map(tofrom: old[0:n], fresh[0:n])
    {
        app.begin();
        for (int i = 0; i < STEPS; i++) {
            // My lowest plane is above the highest of the PE below, and the other way round.
            if (app.extended) {
                #pragma omp target data use_device_ptr(old)
                {
                    if (me > 0)
                        shmem_putmem(old + (below_has + 1) * plane, old + plane, plane * sizeof(double), me - 1);
                    if (me < npes - 1)
                        shmem_putmem(old, old + planes * plane, plane * sizeof(double), me + 1);
                }
                shmem_barrier_all();
            } else {
                #pragma omp target update from(old[plane:plane])
                #pragma omp target update from(old[planes * plane:plane])
                if (me > 0)
                    shmem_putmem(old + (below_has + 1) * plane, old + plane, plane * sizeof(double), me - 1);
                if (me < npes - 1)
                    shmem_putmem(old, old + planes * plane, plane * sizeof(double), me + 1);
                shmem_barrier_all();
                #pragma omp target update to(old[0:plane])
                #pragma omp target update to(old[(planes + 1) * plane:plane])
            }
            #pragma omp target teams distribute parallel for collapse(2)
            for (long z = 1; z <= planes; z++)
                for (long y = 1; y <= N; y++)
                    for (long x = 1; x <= N; x++)
                        fresh[z * plane + y * row + x] = step(old, z * plane + y * row + x, row, plane);
            std::swap(old, fresh);
            shmem_barrier_all();
        }
        app.end();
    }
    // The whole cube by one processor, with the same operations in the same order.
    std::vector<double> one(plane * (N + 2)), other(one);
    for (long z = 1; z <= N; z++)
        for (long y = 1; y <= N; y++)
            for (long x = 1; x <= N; x++)
                one[z * plane + y * row + x] = initial(z, y, x);
    for (int i = 0; i < STEPS; i++) {
        for (long z = 1; z <= N; z++)
            for (long y = 1; y <= N; y++)
                for (long x = 1; x <= N; x++)
                    other[z * plane + y * row + x] = step(one.data(), z * plane + y * row + x, row, plane);
        one.swap(other);
    }
    long wrong = 0;
    for (long z = 1; z <= planes; z++)
        for (long y = 1; y <= N; y++)
            for (long x = 1; x <= N; x++)
                wrong += old[z * plane + y * row + x] != one[(first + z) * plane + y * row + x];
    app.release(old);
    app.release(fresh);
    return app.report(double(STEPS) * N * N * N, "points", wrong);
}
