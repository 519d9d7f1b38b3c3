/* heat in MPI: nonblocking messages with the edge rows, received into the halos. */
#include "../problems.h"
#include <mpi.h>

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 200), steps = argument(argc, argv, 2, 200);
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long first = 1 + first_of(n, ranks, me), rows = 1 + first_of(n, ranks, me + 1) - first;
    size_t width = (size_t)n + 2;
    double *field[2];
    for (int f = 0; f < 2; f++)
        field[f] = need(calloc((size_t)(rows + 2) * width, sizeof(double)));
    for (long r = 1; r <= rows; r++)
        for (long c = 1; c <= n; c++)
            field[0][(size_t)r * width + (size_t)c] = wave(n, 0, first + r - 1, c);
    int above = me > 0 ? me - 1 : MPI_PROC_NULL, below = me + 1 < ranks ? me + 1 : MPI_PROC_NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long step = 0; step < steps; step++) {
        double *old = field[step % 2], *new = field[(step + 1) % 2];
        MPI_Request requests[4];
        MPI_Irecv(old, (int)width, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(old + (size_t)(rows + 1) * width, (int)width, MPI_DOUBLE, below, 0,
                  MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(old + width, (int)width, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(old + (size_t)rows * width, (int)width, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                  &requests[3]);
        /* The rows between need no halo: they are computed meanwhile. */
        for (long r = 2; r < rows; r++)
            heat_row(new + (size_t)r * width, old + (size_t)r * width, width, n);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        heat_row(new + width, old + width, width, n);
        if (rows > 1)
            heat_row(new + (size_t)rows * width, old + (size_t)rows * width, width, n);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    double error = 0, most;
    for (long r = 1; r <= rows; r++)
        for (long c = 1; c <= n; c++)
            error = fmax(error, fabs(field[steps % 2][(size_t)r * width + (size_t)c] -
                                     wave(n, steps, first + r - 1, c)));
    MPI_Reduce(&error, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int status = me == 0 ? report("heat, MPI", longest, most < 1e-10) : 0;
    MPI_Finalize();
    return status;
}
