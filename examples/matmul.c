/*
 * matmul: C = A * B, the blocks of B going around a ring of PEs.
 *
 *   oshcc matmul.c -o matmul && oshrun -n 4 ./matmul [n]
 *
 * Each PE holds a band of rows of A, B and C. In turn k it multiplies with the
 * band of B that belongs to PE me + k: where it lies, if that PE is on this node;
 * otherwise it gets the next one meanwhile.
 *
 * Shows: shmem_ptr; communication behind computation, by a nonblocking get and a
 * quiet.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long errors, total_errors;
static double elapsed; /* seconds from one barrier to the other, on this PE */
static double longest; /* the same, the longest of all PEs */

/* Small whole numbers, so that every sum is exact and can be checked with ==. */
static double a_element(int row, int col) { return (row * 3 + col * 5) % 7 - 3; }
static double b_element(int row, int col) { return (row * 2 + col * 11) % 5 - 2; }

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* PE pe has rows first_row(pe) up to, but not including, first_row(pe + 1). */
static int first_row(int n, int npes, int pe) { return (int)((long)n * pe / npes); }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 240;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int first = first_row(n, npes, me), rows = first_row(n, npes, me + 1) - first;
    size_t band = ((size_t)n / (size_t)npes + 1) * (size_t)n; /* fits any PE's band */

    double *b = shmem_malloc(band * sizeof(double)); /* symmetric: others get it */
    double *a = malloc(band * sizeof(double));       /* private: only used here */
    double *c = malloc(band * sizeof(double));
    double *turn[2] = {malloc(band * sizeof(double)), malloc(band * sizeof(double))};
    if (!a || !b || !c || !turn[0] || !turn[1]) {
        fprintf(stderr, "out of memory\n");
        shmem_global_exit(1);
    }
    for (int r = 0; r < rows; r++)
        for (int col = 0; col < n; col++) {
            a[r * n + col] = a_element(first + r, col);
            b[r * n + col] = b_element(first + r, col);
            c[r * n + col] = 0;
        }
    shmem_barrier_all(); /* everybody's b is ready to be read */
    double start = seconds();

    /* A band on this node is read where it lies. One on another node is fetched while
     * the turn before computes. */
    const double *band_of[2] = {b, NULL};
    for (int k = 0; k < npes; k++) {
        int owner = (me + k) % npes, next = (me + k + 1) % npes;
        if (k + 1 < npes) {
            int next_rows = first_row(n, npes, next + 1) - first_row(n, npes, next);
            band_of[(k + 1) % 2] = shmem_ptr(b, next);
            if (band_of[(k + 1) % 2] == NULL) {
                shmem_double_get_nbi(turn[(k + 1) % 2], b, (size_t)next_rows * (size_t)n, next);
                band_of[(k + 1) % 2] = turn[(k + 1) % 2];
            }
        }
        const double *bk = band_of[k % 2];
        int b_first = first_row(n, npes, owner), b_rows = first_row(n, npes, owner + 1) - b_first;
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < b_rows; i++)
                for (int col = 0; col < n; col++)
                    c[r * n + col] += a[r * n + b_first + i] * bk[i * n + col];
        shmem_quiet(); /* the next band is here */
    }

    shmem_barrier_all();
    elapsed = seconds() - start;

    /* Check some columns of every row against the definition. */
    for (int r = 0; r < rows; r++)
        for (int col = r % 13; col < n; col += 13) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += a_element(first + r, i) * b_element(i, col);
            errors += sum != c[r * n + col];
        }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total_errors, &errors, 1);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &longest, &elapsed, 1);
    int wrong = total_errors != 0;
    if (me == 0)
        printf("%d x %d matrices on %d PEs: %.6f s, %.2f GFLOP/s, %s\n", n, n, npes, longest,
               2e-9 * n * n * n / longest, wrong ? "WRONG" : "verified");
    free(turn[1]);
    free(turn[0]);
    free(c);
    free(a);
    shmem_free(b);
    shmem_finalize();
    return wrong;
}
