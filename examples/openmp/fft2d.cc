// Fourier transform of a square of size x size complex numbers, of which each PE has some rows: transform the rows,
// exchange all with all to have the columns as rows, transform them, exchange back. Then the same inversely.
#include "app.h"
#include "work.h"

static void exchange(const App &app, Complex *out, Complex *in, long N, long rows)
{
    const long block = rows * rows, n = N * rows;
    shmem_barrier_all();
    if (app.extended) {
        #pragma omp target data use_device_ptr(in, out)
        shmem_alltoallmem(SHMEM_TEAM_WORLD, in, out, block * sizeof(Complex));
    } else {
        #pragma omp target update from(out[0:n])
        shmem_alltoallmem(SHMEM_TEAM_WORLD, in, out, block * sizeof(Complex));
        #pragma omp target update to(in[0:n])
    }
}

static void both_ways(const App &app, Complex *mine, Complex *out, Complex *in, long N, long rows, int sign)
{
    for (int direction = 0; direction < 2; direction++) {
        transform_rows(mine, out, N, rows, sign);
        exchange(app, out, in, N, rows);
        turn_blocks(in, mine, N, rows);
    }
}

int main(int argc, char **argv)
{
    App app("FFT 2-D", argc, argv, 128);
    const long N = app.size, npes = app.npes, me = app.me, rows = N / npes;
    if ((N & (N - 1)) != 0 || N % npes != 0)
        app.fail("expected a size that is a power of two and a multiple of the number of PEs");
    const size_t n = N * rows;
    auto mine = new Complex[n];
    auto out = app.array<Complex>(n), in = app.array<Complex>(n);
    fill_rows(mine, N, rows, me);

    long wrong = 0;
    #pragma omp target data map(tofrom: mine[0:n]) map(alloc: out[0:n], in[0:n])
    {
        app.begin();
        both_ways(app, mine, out, in, N, rows, -1);
        app.end();
        #pragma omp target update from(mine[0:n])
        // Some elements by definition.
        for (long y = 0; y < rows; y++) {
            long v = me * rows + y, u = (v * 7 + 3) % N;
            double re = 0, im = 0;
            for (long t = 0; t < N; t++)
                for (long s = 0; s < N; s++) {
                    Complex f = initial(t, s);
                    double angle = -2 * PI * ((v * t + u * s) % N) / N;
                    re += f.re * cos(angle) - f.im * sin(angle);
                    im += f.re * sin(angle) + f.im * cos(angle);
                }
            double error = std::hypot(mine[y * N + u].re - re, mine[y * N + u].im - im);
            wrong += !(error < 1e-9 * N * N);
        }
        both_ways(app, mine, out, in, N, rows, 1);
    }
    wrong += not_restored(mine, N, rows, me);
    app.release(out);
    app.release(in);
    delete[] mine;
    return app.report(5.0 * N * N * 2 * std::log2(N), "operations", wrong);
}
