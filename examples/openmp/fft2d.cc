// Fourier transform of a square of size x size complex numbers, of which each PE has some rows: transform the rows,
// exchange all with all to have the columns as rows, transform them, exchange back. Then the same inversely.
#include "app.h"

#include <cmath>

struct Complex {
    double re, im;
};

#pragma omp declare target
static const double PI = 3.141592653589793238462643383279502884;

// In place, for powers of two. `sign` is -1, or 1 for the inverse without its division.
static void transform(Complex *row, long n, int sign)
{
    for (long i = 1, j = 0; i < n; i++) {
        long bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            Complex kept = row[i];
            row[i] = row[j];
            row[j] = kept;
        }
    }
    for (long half = 1; half < n; half *= 2)
        for (long k = 0; k < half; k++) {
            double angle = sign * PI * k / half, c = cos(angle), s = sin(angle);
            for (long i = k; i < n; i += 2 * half) {
                Complex a = row[i], b = row[i + half];
                Complex turned = {b.re * c - b.im * s, b.re * s + b.im * c};
                row[i] = {a.re + turned.re, a.im + turned.im};
                row[i + half] = {a.re - turned.re, a.im - turned.im};
            }
        }
}
#pragma omp end declare target

static Complex initial(long y, long x)
{
    return {double((y * 13 + x * 7) % 17 - 8), double((y * 5 + x * 11) % 19 - 9)};
}

// Columns become rows: a block for each PE, then each block turned over.
static void exchange(const App &app, Complex *mine, Complex *out, Complex *in, long N, long rows)
{
    const long block = rows * rows, n = N * rows;
    #pragma omp target teams distribute parallel for collapse(2)
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            out[x / rows * block + y * rows + x % rows] = mine[y * N + x];
    shmem_barrier_all();
    if (app.extended) {
        #pragma omp target data use_device_ptr(in, out)
        shmem_alltoallmem(SHMEM_TEAM_WORLD, in, out, block * sizeof(Complex));
    } else {
        #pragma omp target update from(out[0:n])
        shmem_alltoallmem(SHMEM_TEAM_WORLD, in, out, block * sizeof(Complex));
        #pragma omp target update to(in[0:n])
    }
    #pragma omp target teams distribute parallel for collapse(2)
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            mine[y * N + x] = in[x / rows * block + x % rows * rows + y];
}

static void both_ways(const App &app, Complex *mine, Complex *out, Complex *in, long N, long rows, int sign)
{
    for (int direction = 0; direction < 2; direction++) {
        #pragma omp target teams distribute parallel for
        for (long y = 0; y < rows; y++)
            transform(mine + y * N, N, sign);
        exchange(app, mine, out, in, N, rows);
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
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            mine[y * N + x] = initial(me * rows + y, x);

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
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++) {
            Complex is = mine[y * N + x], was = initial(me * rows + y, x);
            double error = std::hypot(is.re / (N * N) - was.re, is.im / (N * N) - was.im);
            wrong += !(error < 1e-9);
        }
    app.release(out);
    app.release(in);
    delete[] mine;
    return app.report(5.0 * N * N * 2 * std::log2(N), "operations", wrong);
}
