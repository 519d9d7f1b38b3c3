/*
 * heat: two-dimensional heat conduction on a grid cut into bands of rows.
 *
 *   oshcc heat.c -o heat -lm && oshrun -n 4 ./heat [rows and columns] [steps]
 *
 * Shows: a halo exchange. Each PE holds some rows and, above and below them, a
 * copy of its neighbours' edge rows: the halo. In every step a PE puts its own
 * edge rows into its neighbours' halos with a signal, computes the rows that need
 * no halo, and waits for its neighbours' signals before it computes the others.
 *
 * Check: the field starts as the slowest decaying wave of the plate, for which
 * the discrete equation has a known solution: every step multiplies it by one
 * and the same factor.
 */
#include <math.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ALPHA 0.2 /* conductivity times time step over grid spacing squared */
static const double PI = 3.14159265358979323846;

static uint64_t halo_ready[2]; /* signals: steps for which the halo above, below came */
static double error, max_error;
static double elapsed; /* seconds from one barrier to the other, on this PE */
static double longest; /* the same, the longest of all PEs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Grid rows 1..n are dealt out as evenly as possible: PE pe has rows
 * first_row(pe) up to, but not including, first_row(pe + 1). */
static int first_row(int n, int npes, int pe)
{
    return 1 + (int)((long)n * pe / npes);
}

/* One row of a step, from the row before it and its neighbours. */
static void compute(double *restrict new, const double *restrict old, size_t width)
{
    for (size_t c = 1; c + 1 < width; c++)
        new[c] = old[c] + ALPHA * (old[c - width] + old[c + width] + old[c - 1] + old[c + 1] -
                                   4 * old[c]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200;
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (n < npes) {
        if (me == 0)
            fprintf(stderr, "%d rows are too few for %d PEs\n", n, npes);
        shmem_global_exit(1);
    }
    int first = first_row(n, npes, me), rows = first_row(n, npes, me + 1) - first;
    size_t width = (size_t)n + 2; /* with the plate's cold edge, which stays 0 */

    /* Two fields, old and new, by turns; the same size on every PE. */
    size_t most_rows = (size_t)n / (size_t)npes + 1;
    double *field[2];
    for (int f = 0; f < 2; f++) {
        field[f] = shmem_calloc((most_rows + 2) * width, sizeof(double));
        if (field[f] == NULL) {
            fprintf(stderr, "the symmetric heap is too small for this grid\n");
            shmem_global_exit(1);
        }
    }
    for (int r = 1; r <= rows; r++)
        for (int c = 1; c <= n; c++)
            field[0][(size_t)r * width + (size_t)c] =
                sin(PI * (first + r - 1) / (n + 1)) * sin(PI * c / (n + 1));

    shmem_barrier_all();
    double start = seconds();
    int above = me - 1, below = me + 1; /* PEs; -1 and npes do not exist */
    for (int step = 0; step < steps; step++) {
        double *old = field[step % 2], *new = field[(step + 1) % 2];

        /* My first row becomes the lower halo of the PE above, and so on. Its
         * lower halo stands behind its own last row. */
        if (above >= 0) {
            int its_rows = first - first_row(n, npes, above);
            shmem_double_put_signal(&old[(size_t)(its_rows + 1) * width], &old[width], width,
                                    &halo_ready[1], (uint64_t)step + 1, SHMEM_SIGNAL_SET, above);
        }
        if (below < npes)
            shmem_double_put_signal(&old[0], &old[(size_t)rows * width], width, &halo_ready[0],
                                    (uint64_t)step + 1, SHMEM_SIGNAL_SET, below);
        size_t last = (size_t)rows * width;
        for (size_t row = 2 * width; row < last; row += width)
            compute(&new[row], &old[row], width);

        /* A neighbour can be one step ahead, not two, because it needs my next
         * row for that: so it never overwrites a halo that is still in use. */
        if (above >= 0)
            shmem_signal_wait_until(&halo_ready[0], SHMEM_CMP_GE, (uint64_t)step + 1);
        if (below < npes)
            shmem_signal_wait_until(&halo_ready[1], SHMEM_CMP_GE, (uint64_t)step + 1);
        compute(&new[width], &old[width], width);
        if (rows > 1)
            compute(&new[last], &old[last], width);
    }

    shmem_barrier_all();
    elapsed = seconds() - start;

    double factor = pow(1 - 4 * ALPHA * (1 - cos(PI / (n + 1))), steps);
    for (int r = 1; r <= rows; r++)
        for (int c = 1; c <= n; c++) {
            double exact = factor * sin(PI * (first + r - 1) / (n + 1)) * sin(PI * c / (n + 1));
            double off = fabs(field[steps % 2][(size_t)r * width + (size_t)c] - exact);
            error = off > error ? off : error;
        }
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &max_error, &error, 1);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &longest, &elapsed, 1);
    int wrong = !(max_error < 1e-10);
    if (me == 0)
        printf("%d x %d grid, %d steps, %d PEs: %.6f s, largest error %.2e, %s\n", n, n, steps,
               npes, longest, max_error, wrong ? "WRONG" : "verified");
    shmem_free(field[1]);
    shmem_free(field[0]);
    shmem_finalize();
    return wrong;
}
