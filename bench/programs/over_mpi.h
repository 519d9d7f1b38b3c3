/* MPI in place of OpenSHMEM, for collectives: the job, and memory that only its owner sees. */
#ifndef BENCH_OVER_MPI_H
#define BENCH_OVER_MPI_H

#include <mpi.h>

static inline void bench_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static inline void bench_end_job(void) { MPI_Abort(MPI_COMM_WORLD, 1); }

static inline const double *bench_gather(double mine)
{
    static double figures[BENCH_MAX_PES];
    MPI_Allgather(&mine, 1, MPI_DOUBLE, figures, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return figures;
}

static inline void *bench_pages(size_t bytes) { return aligned_alloc(4096, bytes); }

static inline void bench_begin_job(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.pe);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.npes);
}

static inline void bench_leave_job(void) { MPI_Finalize(); }

#endif
