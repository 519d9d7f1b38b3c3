/* Types that reach too far to be taken apart: an accumulate is an error, and not MPI's, whose accumulates are not atomic to the library's; a
 * put is MPI's, also in locks of the library. */
#include <mpi.h>
#include <stdio.h>

/* Two values, so many apart. */
static MPI_Datatype far(int apart)
{
    MPI_Datatype wide;
    int whole = apart + 1, each = 1, how = MPI_DISTRIBUTE_CYCLIC;
    MPI_Type_create_darray(apart, 0, 1, &whole, &how, &each, &apart, MPI_ORDER_C, MPI_LONG, &wide);
    MPI_Type_commit(&wide);
    return wide;
}

/* Whether they arrive, by each kind of lock. */
static int arrive(void)
{
    enum { APART = 3 << 20 };
    long *base, values[2] = {1, 2}, last = 0;
    MPI_Win win;
    MPI_Datatype wide = far(APART);
    MPI_Win_allocate((APART + 1) * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(values, 2, MPI_LONG, 0, 0, 1, wide, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    int good = base[0] == 1 && base[APART] == 2;
    values[1] = 3;
    MPI_Put(values, 2, MPI_LONG, 0, 0, 1, wide, win);
    MPI_Win_flush(0, win);
    MPI_Get(&last, 1, MPI_LONG, 0, APART, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    good = good && last == 3;
    MPI_Win_lock_all(0, win);
    values[1] = 4;
    MPI_Put(values, 2, MPI_LONG, 0, 0, 1, wide, win);
    MPI_Win_flush_all(win);
    MPI_Get(&last, 1, MPI_LONG, 0, APART, 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&wide);
    MPI_Win_free(&win);
    return good && last == 4;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long *base, values[2] = {1, 1};
    int class = MPI_SUCCESS, status, good = arrive();
    MPI_Win win;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Datatype wide = far(1 << 28);
    MPI_Win_lock_all(0, win);
    status = MPI_Accumulate(values, 2, MPI_LONG, 0, 0, 1, wide, MPI_SUM, win);
    MPI_Error_class(status, &class);
    MPI_Win_unlock_all(win);
    printf("%s\n", class == MPI_ERR_NO_MEM && good ? "right" : "wrong");
    MPI_Type_free(&wide);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
