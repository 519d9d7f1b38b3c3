// What the programs of this folder compute and how the results are checked: the same in each form, whatever it
// communicates by.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

// ---- Random access.
inline uint64_t next(uint64_t random)
{
    return random * 6364136223846793005u + 1442695040888963407u;
}

// All updates of the table of PE `me` once more give zeros: how many words are something else.
inline long lost_updates(uint64_t *table, uint64_t words, long updates, int me, int npes)
{
    for (int pe = 0; pe < npes; pe++) {
        uint64_t random = pe * 77 + 1;
        for (long i = 0; i < updates; i++) {
            random = next(random);
            if (int((random >> 40) % npes) == me)
                table[(random >> 20) % words] ^= random;
        }
    }
    return words - std::count(table, table + words, 0u);
}

// ---- Fourier transform.
#pragma omp declare target
struct Complex {
    double re, im;
};

static const double PI = 3.141592653589793238462643383279502884;

// In place, for powers of two. `sign` is -1, or 1 for the inverse without its division.
inline void transform(Complex *row, long n, int sign)
{
    for (long i = 1, j = 0; i < n; i++) {
        long bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j)
            std::swap(row[i], row[j]);
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

inline Complex initial(long y, long x)
{
    return {double((y * 13 + x * 7) % 17 - 8), double((y * 5 + x * 11) % 19 - 9)};
}

inline void fill_rows(Complex *mine, long N, long rows, int me)
{
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            mine[y * N + x] = initial(me * rows + y, x);
}

// Transforms the rows and puts their columns together, a block for each PE.
inline void transform_rows(Complex *mine, Complex *out, long N, long rows, int sign)
{
    const long block = rows * rows;
    #pragma omp target teams distribute parallel for
    for (long y = 0; y < rows; y++)
        transform(mine + y * N, N, sign);
    #pragma omp target teams distribute parallel for collapse(2)
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            out[x / rows * block + y * rows + x % rows] = mine[y * N + x];
}

// Blocks of columns become rows: each is turned over.
inline void turn_blocks(const Complex *in, Complex *mine, long N, long rows)
{
    const long block = rows * rows;
    #pragma omp target teams distribute parallel for collapse(2)
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++)
            mine[y * N + x] = in[x / rows * block + x % rows * rows + y];
}

// The elements in the rows of PE `me` that are not what they were, after a transform and its inverse.
inline long not_restored(const Complex *mine, long N, long rows, int me)
{
    long wrong = 0;
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < N; x++) {
            Complex is = mine[y * N + x], was = initial(me * rows + y, x);
            wrong += !(std::hypot(is.re / (N * N) - was.re, is.im / (N * N) - was.im) < 1e-9);
        }
    return wrong;
}

// ---- Product of matrices: their elements, small integers, so that sums are exact.
inline float left(long i, long k)
{
    return (i * 7 + k * 3) % 11 - 5;
}

inline float right(long k, long j)
{
    return (k * 5 + j) % 13 - 6;
}

// A stripe of S rows of the first matrix, and one of columns of the second.
inline void fill_stripes(float *A, float *B, long S, long N, int me)
{
    for (long i = 0; i < S; i++)
        for (long k = 0; k < N; k++) {
            A[i * N + k] = left(me * S + i, k);
            B[k * S + i] = right(k, me * S + i);
        }
}

// Their product is a square of the result, in the columns of PE `stripe`.
inline void multiply(const float *A, const float *B, float *C, long S, long N, int stripe)
{
    #pragma omp target teams distribute parallel for
    for (long i = 0; i < S; i++)
        for (long k = 0; k < N; k++)
            for (long j = 0; j < S; j++)
                C[i * N + stripe * S + j] += A[i * N + k] * B[k * S + j];
}

// The elements in the stripe of S rows of PE `me` that are not those of the product.
inline long wrong_products(const float *C, long S, long N, int me)
{
    long wrong = 0;
    for (long i = 0; i < S; i++)
        for (long j = 0; j < N; j++) {
            float sum = 0;
            for (long k = 0; k < N; k++)
                sum += left(me * S + i, k) * right(k, j);
            wrong += C[i * N + j] != sum;
        }
    return wrong;
}

// ---- Heat in a periodic cube.
static const int STEPS = 20;

inline double initial(long z, long y, long x)
{
    return (z * 31 + y * 17 + x * 7) % 101;
}

#pragma omp declare target
inline double step(double here, double below, double above, double left, double right, double front, double back)
{
    return here + 0.1 * (left + right + front + back + below + above - 6 * here);
}
#pragma omp end declare target

// The whole cube after all steps, by one processor, with the same operations in the same order.
inline std::vector<double> heated(long N)
{
    std::vector<double> one(N * N * N), other(one);
    for (long i = 0; i < N * N * N; i++)
        one[i] = initial(i / (N * N), i / N % N, i % N);
    auto cell = [&](long z, long y, long x) { return one[((z + N) % N * N + (y + N) % N) * N + (x + N) % N]; };
    for (int i = 0; i < STEPS; i++, one.swap(other))
        for (long p = 0; p < N * N * N; p++) {
            const long z = p / (N * N), y = p / N % N, x = p % N;
            other[p] = step(cell(z, y, x), cell(z - 1, y, x), cell(z + 1, y, x), cell(z, y, x - 1), cell(z, y, x + 1),
                            cell(z, y - 1, x), cell(z, y + 1, x));
        }
    return one;
}
