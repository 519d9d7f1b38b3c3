/* The communication of NAS's conjugate gradient benchmark: PEs form a grid of rows and columns, the products of a
 * matrix and a vector are added up along each row by exchanges at doubling distances, and then every PE exchanges its
 * part with the one across the diagonal. The number of PEs is a power of two.
 *
 *   oshrun -n 8 ./transpose [elements of a PE] [steps] */
#include "../problems.h"
#include <shmem.h>

enum { STAGES = 32 };

static uint64_t came[STAGES]; /* messages, by exchange */
static long wrong, all_wrong;

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 256), steps = argument(argc, argv, 2, 20);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), columns = 1;
    if (npes & (npes - 1)) {
        if (me == 0)
            fprintf(stderr, "%d PEs: expected a power of two\n", npes);
        shmem_global_exit(2);
    }
    while (columns * columns < npes)
        columns *= 2;
    int rows = npes / columns, row = me / columns, column = me % columns;
    /* Across the diagonal; of a grid twice as wide as it is high, pairs of columns count as one. */
    int half = columns / rows, across = ((column / half) * columns) + row * half + column % half;
    /* An inbox of each exchange, in two turns: a peer may be one step ahead, not two. */
    long *sum = need(calloc((size_t)n, sizeof *sum)), *inbox = shmem_calloc((size_t)(2 * STAGES * n), sizeof *inbox);
    double start = seconds();
    for (long step = 1; step <= steps; step++) {
        for (long i = 0; i < n; i++)
            sum[i] = (long)me * step + i;
        for (int stage = 0; 1 << stage <= columns; stage++) {
            int last = 1 << stage == columns, peer = last ? across : row * columns + (column ^ 1 << stage);
            long *box = inbox + (2 * stage + step % 2) * n;
            shmem_long_put_signal(box, sum, (size_t)n, &came[stage], 1, SHMEM_SIGNAL_ADD, peer);
            shmem_signal_wait_until(&came[stage], SHMEM_CMP_GE, (uint64_t)step);
            for (long i = 0; i < n; i++)
                sum[i] = last ? box[i] : sum[i] + box[i];
        }
        long from = across / columns, total = 0;
        for (int c = 0; c < columns; c++)
            total += (from * columns + c) * step;
        for (long i = 0; i < n; i++)
            wrong += sum[i] != total + columns * i;
    }
    double elapsed = seconds() - start;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
    if (me == 0)
        printf("%d by %d PEs, parts of %ld: %.6f s, %s\n", rows, columns, n, elapsed, all_wrong ? "WRONG" : "verified");
    int failed = all_wrong != 0;
    shmem_finalize();
    return failed;
}
