/* Where calls went: printed by rank 0 for all ranks in MPI_Finalize, if ONENODE_MPI_STATS is set and not 0. */
#include "onenode_mpi.h"
#include <stdio.h>

bool counting;
static _Atomic long counts[COUNTED][3];
static const char *const names[COUNTED] = {
#define X(name, ...) "MPI_" #name,
    OPERATIONS_(X) REQUESTS(X) SYNCHRONISATION(X)
#undef X
};

void count_call(int name, int where)
{
    atomic_fetch_add_explicit(&counts[name][where], 1, memory_order_relaxed);
}

void print_counts(void)
{
    long own[COUNTED][3], all[COUNTED][3];
    int rank;
    for (int i = 0; i < COUNTED; i++)
        for (int k = 0; k < 3; k++)
            own[i][k] = counts[i][k];
    PMPI_Reduce(own, all, COUNTED * 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    fprintf(stderr, "onenode-mpi: %-24s %12s %12s %14s\n", "calls of all ranks", "by onenode", "left to MPI", "other windows");
    for (int i = 0; i < COUNTED; i++)
        if (all[i][OURS] + all[i][PASSED] + all[i][FOREIGN] != 0)
            fprintf(stderr, "onenode-mpi: %-24s %12ld %12ld %14ld\n", names[i], all[i][OURS], all[i][PASSED], all[i][FOREIGN]);
}

int on_Finalize(void)
{
    if (counting)
        print_counts();
    return next.Finalize();
}
