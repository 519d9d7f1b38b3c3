/* heat in OpenMP: a band of rows a thread, a barrier after each step. */
#include "../problems.h"
#include <omp.h>

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 200), steps = argument(argc, argv, 2, 200);
    size_t width = (size_t)n + 2;
    double *field[2];
    for (int f = 0; f < 2; f++)
        field[f] = need(malloc(width * width * sizeof(double)));
    double elapsed = 0, error = 0;

#pragma omp parallel reduction(max : error, elapsed)
    {
        int threads = omp_get_num_threads(), me = omp_get_thread_num();
        long first = 1 + first_of(n, threads, me), end = 1 + first_of(n, threads, me + 1);
        /* Who works on a row touches it first: it is in that thread's memory. */
        for (long r = me ? first : 0; r < (me + 1 < threads ? end : n + 2); r++)
            for (long c = 0; c < n + 2; c++) {
                int edge = r == 0 || r == n + 1 || c == 0 || c == n + 1;
                field[0][(size_t)r * width + (size_t)c] = edge ? 0 : wave(n, 0, r, c);
                field[1][(size_t)r * width + (size_t)c] = 0;
            }
#pragma omp barrier
        double start = seconds();
        for (long step = 0; step < steps; step++) {
            for (long r = first; r < end; r++)
                heat_row(&field[(step + 1) % 2][(size_t)r * width], &field[step % 2][(size_t)r * width],
                         width, n);
#pragma omp barrier
        }
        elapsed = seconds() - start;
        for (long r = first; r < end; r++)
            for (long c = 1; c <= n; c++)
                error = fmax(error, fabs(field[steps % 2][(size_t)r * width + (size_t)c] -
                                         wave(n, steps, r, c)));
    }
    return report("heat, OpenMP", elapsed, error < 1e-10);
}
