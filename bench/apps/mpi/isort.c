/* isort in MPI: keys grouped by their owners, one MPI_Alltoallv, a sort on each rank. */
#include "../problems.h"
#include <mpi.h>

int main(int argc, char **argv)
{
    long total = argument(argc, argv, 1, 1L << 24);
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long first = first_of(total, ranks, me);
    size_t n = (size_t)(first_of(total, ranks, me + 1) - first);
    size_t room = n + n / 8 + 1;
    skey *keys = need(malloc(room * sizeof *keys)), *grouped = need(malloc((n + 1) * sizeof *keys));
    for (size_t i = 0; i < n; i++)
        keys[i] = key_number(first + (long)i);
    uint64_t sums[2] = {checksum(keys, n), 0}, all_sums[2];
    int *counts = need(calloc(4 * (size_t)ranks + 1, sizeof *counts));
    int *starts = counts + ranks, *theirs = starts + ranks, *places = theirs + ranks;

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (size_t i = 0; i < n; i++)
        counts[owner(keys[i], ranks)]++;
    for (int rank = 1; rank < ranks; rank++)
        starts[rank] = starts[rank - 1] + counts[rank - 1];
    memcpy(places, starts, (size_t)ranks * sizeof *places);
    for (size_t i = 0; i < n; i++)
        grouped[places[owner(keys[i], ranks)]++] = keys[i];
    MPI_Alltoall(counts, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
    size_t have = 0;
    for (int rank = 0; rank < ranks; rank++) {
        places[rank] = (int)have;
        have += (size_t)theirs[rank];
    }
    skey *mine = need(malloc((have + 1) * sizeof *mine));
    MPI_Alltoallv(grouped, counts, starts, MPI_UINT32_T, mine, theirs, places, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    skey *scratch = have <= room ? keys : need(malloc(have * sizeof *scratch));
    sort_keys(mine, scratch, have);
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    long errors = out_of_order(mine, have), all_errors, all_keys, keys_here = (long)have;
    for (size_t i = 0; i < have; i++)
        errors += owner(mine[i], ranks) != me;
    sums[1] = checksum(mine, have);
    MPI_Reduce(&errors, &all_errors, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&keys_here, &all_keys, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(sums, all_sums, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    int status = 0;
    if (me == 0)
        status = report("isort, MPI", longest,
                        all_errors == 0 && all_keys == total && all_sums[0] == all_sums[1]);
    MPI_Finalize();
    return status;
}
