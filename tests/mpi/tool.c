/* A program with a tool linked into it, which counts calls by their MPI names. */
#include <mpi.h>
#include <stdio.h>

static long puts_seen, flushes_seen;

int MPI_Put(const void *o, int oc, MPI_Datatype ot, int rank, MPI_Aint disp, int tc, MPI_Datatype tt, MPI_Win win)
{
    puts_seen++;
    return PMPI_Put(o, oc, ot, rank, disp, tc, tt, win);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    flushes_seen++;
    return PMPI_Win_flush(rank, win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me, n;
    long *base;
    MPI_Win win;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < 100; i++) {
        MPI_Put(&i, 1, MPI_LONG, (me + 1) % n, 0, 1, MPI_LONG, win);
        MPI_Win_flush((me + 1) % n, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (me == 0)
        printf("the tool saw %ld puts and %ld flushes\n", puts_seen, flushes_seen);
    MPI_Finalize();
    return 0;
}
