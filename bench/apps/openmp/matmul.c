/* matmul in OpenMP: a band of rows of C a thread; B is read where it is. */
#include "../problems.h"
#include <omp.h>

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 240);
    size_t elements = (size_t)n * (size_t)n;
    double *a = need(malloc(elements * sizeof *a)), *b = need(malloc(elements * sizeof *b));
    double *c = need(malloc(elements * sizeof *c));
    double elapsed = 0;
    long errors = 0;

#pragma omp parallel reduction(+ : errors) reduction(max : elapsed)
    {
        int threads = omp_get_num_threads(), me = omp_get_thread_num();
        long first = first_of(n, threads, me), end = first_of(n, threads, me + 1);
        for (long r = first; r < end; r++)
            for (long col = 0; col < n; col++) {
                a[r * n + col] = a_element(r, col);
                b[r * n + col] = b_element(r, col);
                c[r * n + col] = 0;
            }
#pragma omp barrier
        double start = seconds();
        for (int k = 0; k < threads; k++) {
            /* A band of B at a time: it stays in the caches. */
            int band = (me + k) % threads;
            long from = first_of(n, threads, band), to = first_of(n, threads, band + 1);
            for (long r = first; r < end; r++)
                for (long i = from; i < to; i++)
                    for (long col = 0; col < n; col++)
                        c[r * n + col] += a[r * n + i] * b[i * n + col];
        }
#pragma omp barrier
        elapsed = seconds() - start;
        for (long r = first; r < end; r++)
            errors += wrong_in_row(c + r * n, r, n);
    }
    return report("matmul, OpenMP", elapsed, errors == 0);
}
