/* matmul in MPI: the bands of B go around a ring of ranks behind the computation. */
#include "../problems.h"
#include <mpi.h>

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 240);
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long first = first_of(n, ranks, me), rows = first_of(n, ranks, me + 1) - first;
    size_t band = ((size_t)n / (size_t)ranks + 1) * (size_t)n;
    double *a = need(malloc(band * sizeof *a)), *c = need(calloc(band, sizeof *c));
    double *turn[2] = {need(malloc(band * sizeof *c)), need(malloc(band * sizeof *c))};
    for (long r = 0; r < rows; r++)
        for (long col = 0; col < n; col++) {
            a[r * n + col] = a_element(first + r, col);
            turn[0][r * n + col] = b_element(first + r, col);
        }

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int k = 0; k < ranks; k++) {
        int whose = (me + k) % ranks;
        double *here = turn[k % 2];
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (k + 1 < ranks) {
            MPI_Irecv(turn[(k + 1) % 2], (int)band, MPI_DOUBLE, (me + 1) % ranks, 0, MPI_COMM_WORLD,
                      &requests[0]);
            MPI_Isend(here, (int)band, MPI_DOUBLE, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                      &requests[1]);
        }
        long from = first_of(n, ranks, whose), to = first_of(n, ranks, whose + 1);
        for (long r = 0; r < rows; r++)
            for (long i = from; i < to; i++)
                for (long col = 0; col < n; col++)
                    c[r * n + col] += a[r * n + i] * here[(i - from) * n + col];
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    long errors = 0, all;
    for (long r = 0; r < rows; r++)
        errors += wrong_in_row(c + r * n, first + r, n);
    MPI_Reduce(&errors, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    int status = me == 0 ? report("matmul, MPI", longest, all == 0) : 0;
    MPI_Finalize();
    return status;
}
