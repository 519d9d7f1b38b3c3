/* queue in MPI: the counter is in a window of rank 0, which need not do anything. */
#include "../problems.h"
#include <mpi.h>

int main(int argc, char **argv)
{
    long tasks = argument(argc, argv, 1, 20000);
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    long *counter;
    MPI_Win window;
    MPI_Win_allocate(me == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &counter, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (me == 0) {
        *counter = 0;
        MPI_Win_sync(window);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    const long one = 1;
    long mine[2] = {0, 0}, all[2];
    for (;;) {
        long task;
        MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        if (task >= tasks)
            break;
        mine[0] += collatz_steps(task + 1);
        mine[1]++;
    }
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int status =
        me == 0 ? report("queue, MPI", longest, all[1] == tasks && all[0] == all_steps(tasks)) : 0;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return status;
}
