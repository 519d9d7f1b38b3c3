/* As many windows as the MPI alone can have: MPICH has 2048 communicators, of which a window takes one. Also communicators that
 * go before their windows, or after them. */
#include <mpi.h>
#include <stdio.h>

enum { WINDOWS = 800, SOME = 40 };

int main(int argc, char **argv)
{
    static MPI_Win wins[WINDOWS];
    static long *bases[WINDOWS];
    int me, n, wrong = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i], &wins[i]);
    for (int i = 0; i < WINDOWS; i += 100) {
        long value = 1000 * me + i;
        MPI_Win_fence(0, wins[i]);
        MPI_Put(&value, 1, MPI_LONG, (me + 1) % n, 0, 1, MPI_LONG, wins[i]);
        MPI_Win_fence(0, wins[i]);
        wrong += *bases[i] != 1000 * ((me + n - 1) % n) + i;
    }
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&wins[i]);
    for (int i = 0; i < SOME; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 2; k++)
            MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &bases[k], &wins[k]);
        *(double *)bases[1] = 0;
        if (i % 2 == 0)
            MPI_Comm_free(&comm);
        MPI_Win_free(&wins[0]);
        double one = 1; /* by the guard, which the communicator had */
        MPI_Win_fence(0, wins[1]);
        MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, wins[1]);
        MPI_Win_fence(0, wins[1]);
        wrong += me == 0 && *(double *)bases[1] != n;
        MPI_Win_free(&wins[1]);
        if (i % 2 != 0)
            MPI_Comm_free(&comm);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf(all == 0 ? "right\n" : "%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
