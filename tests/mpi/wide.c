/* An accumulate of a type that reaches too far to be taken apart is an error, and not MPI's, whose accumulates are not atomic to
 * the library's. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long *base, values[2] = {1, 1};
    int class = MPI_SUCCESS, status;
    MPI_Win win;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Datatype wide;
    int apart = 1 << 28, whole = apart + 1, each = 1, how = MPI_DISTRIBUTE_CYCLIC; /* two values, 2 GiB apart */
    MPI_Type_create_darray(apart, 0, 1, &whole, &how, &each, &apart, MPI_ORDER_C, MPI_LONG, &wide);
    MPI_Type_commit(&wide);
    MPI_Win_lock_all(0, win);
    status = MPI_Accumulate(values, 2, MPI_LONG, 0, 0, 1, wide, MPI_SUM, win);
    MPI_Error_class(status, &class);
    MPI_Win_unlock_all(win);
    printf("%s\n", class == MPI_ERR_NO_MEM ? "right" : "wrong");
    MPI_Type_free(&wide);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
