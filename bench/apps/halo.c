/* A halo exchange in two dimensions: PEs form a grid as square as their number allows, and each exchanges the edges of
 * its block with its four neighbours, periodically. Cells hold their place in the whole grid, so every halo can be
 * checked.
 *
 *   oshrun -n 6 ./halo [cells of an edge] [steps] */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static uint64_t came[SIDES];
static long wrong, all_wrong;

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 64, steps = argc > 2 ? atol(argv[2]) : 20;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), rows = 1;
    for (int r = 1; r * r <= npes; r++)
        if (npes % r == 0)
            rows = r;
    int columns = npes / rows, row = me / columns, column = me % columns;
    int peer[SIDES] = {(row + rows - 1) % rows * columns + column, (row + 1) % rows * columns + column,
                       row * columns + (column + columns - 1) % columns, row * columns + (column + 1) % columns};
    /* What a side receives, in two turns, so that a fast neighbour does not overwrite what is still read. */
    long *halo = shmem_calloc((size_t)(2 * SIDES * n), sizeof *halo), *edge = calloc((size_t)n, sizeof *edge);
    if (halo == NULL || edge == NULL)
        shmem_global_exit(1);
    for (long step = 1; step <= steps; step++) {
        for (int side = 0; side < SIDES; side++) {
            /* My northern edge is my northern neighbour's southern halo. */
            int opposite = side ^ 1;
            for (long i = 0; i < n; i++)
                edge[i] = ((long)me * SIDES + side) * 1000003 + i + step;
            long *place = halo + ((step % 2) * SIDES + opposite) * n;
            shmem_long_put_signal(place, edge, (size_t)n, &came[opposite], 1, SHMEM_SIGNAL_ADD, peer[side]);
        }
        for (int side = 0; side < SIDES; side++) {
            shmem_signal_wait_until(&came[side], SHMEM_CMP_GE, (uint64_t)step);
            for (long i = 0; i < n; i++)
                wrong += halo[((step % 2) * SIDES + side) * n + i] !=
                         ((long)peer[side] * SIDES + (side ^ 1)) * 1000003 + i + step;
        }
    }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
    if (me == 0)
        printf("%d by %d PEs, edges of %ld: %s\n", rows, columns, n, all_wrong ? "WRONG" : "verified");
    int failed = all_wrong != 0;
    shmem_finalize();
    return failed;
}
