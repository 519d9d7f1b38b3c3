/*
 * gups in MPI, as the HPC Challenge's rules allow: a rank collects up to 1024 updates,
 * sends each owner its own, and applies what it receives.
 */
#include "../problems.h"
#include <mpi.h>

enum { LOOK_AHEAD = 1024 };

static void update(uint64_t *table, uint64_t per_rank, uint64_t updates, int me, int ranks)
{
    uint64_t random[LOOK_AHEAD], grouped[LOOK_AHEAD];
    uint64_t *received = need(malloc((size_t)ranks * LOOK_AHEAD * sizeof *received));
    int *counts = need(malloc(4 * (size_t)ranks * sizeof *counts));
    int *starts = counts + ranks, *theirs = starts + ranks, *places = theirs + ranks;
    for (uint64_t u = 0; u < updates; u += LOOK_AHEAD) {
        int n = updates - u < LOOK_AHEAD ? (int)(updates - u) : LOOK_AHEAD;
        memset(counts, 0, (size_t)ranks * sizeof *counts);
        for (int i = 0; i < n; i++) {
            random[i] = update_number(me, u + (uint64_t)i);
            counts[update_owner(random[i], ranks)]++;
        }
        starts[0] = 0;
        for (int rank = 1; rank < ranks; rank++)
            starts[rank] = starts[rank - 1] + counts[rank - 1];
        memcpy(places, starts, (size_t)ranks * sizeof *places);
        for (int i = 0; i < n; i++)
            grouped[places[update_owner(random[i], ranks)]++] = random[i];
        MPI_Alltoall(counts, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
        int have = 0;
        for (int rank = 0; rank < ranks; rank++) {
            places[rank] = have;
            have += theirs[rank];
        }
        MPI_Alltoallv(grouped, counts, starts, MPI_UINT64_T, received, theirs, places, MPI_UINT64_T,
                      MPI_COMM_WORLD);
        for (int i = 0; i < have; i++)
            table[update_word(received[i], per_rank)] ^= received[i];
    }
    free(counts);
    free(received);
}

int main(int argc, char **argv)
{
    uint64_t asked = (uint64_t)1 << argument(argc, argv, 1, 18);
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t per_rank = (asked + (uint64_t)ranks - 1) / (uint64_t)ranks;
    uint64_t first = per_rank * (uint64_t)me;
    uint64_t *table = need(malloc(per_rank * sizeof *table));
    for (uint64_t i = 0; i < per_rank; i++)
        table[i] = first + i;

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    update(table, per_rank, 4 * per_rank, me, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    long found[2] = {0, 0}, all[2];
    for (uint64_t i = 0; i < per_rank; i++)
        found[0] += table[i] != first + i;
    update(table, per_rank, 4 * per_rank, me, ranks);
    for (uint64_t i = 0; i < per_rank; i++)
        found[1] += table[i] != first + i;
    MPI_Reduce(found, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    int status = me == 0 ? report("gups, MPI", longest, all[0] && !all[1]) : 0;
    MPI_Finalize();
    return status;
}
