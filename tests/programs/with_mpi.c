/* rule 17.1, rule 17.3: MPI and OpenSHMEM in one program, begun and ended in either
 * order; each communicates while the other is there. */
#include "check.h"
#include <mpi.h>

static long from_left;

int main(int argc, char **argv)
{
    int mpi_first = argc > 1 && strcmp(argv[1], "mpi-first") == 0, level, provided;
    if (mpi_first)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided), 0);
    CHECK(provided >= SHMEM_THREAD_FUNNELED);
    if (!mpi_first)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);

    int me = shmem_my_pe(), npes = shmem_n_pes(), rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* PE 0 says what is wrong before anybody ends the job. */
    shmem_barrier_all();
    CHECK_EQ(size, npes);
    long sum = 0, mine = me;
    for (int round = 0; round < 20; round++) {
        shmem_long_p(&from_left, round * 100 + me, (me + 1) % npes);
        shmem_barrier_all();
        CHECK_EQ(from_left, round * 100 + (me + npes - 1) % npes);
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, (long)npes * (npes - 1) / 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (mpi_first)
        shmem_finalize();
    MPI_Finalize();
    if (!mpi_first)
        shmem_finalize();
    return 0;
}
