/* Random nested types of bytes: what a put takes from a buffer, and a get leaves there, is what MPI packs and unpacks.
 *
 *   layouts [types [seed]] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, BYTES = 1 << 16 };
static uint64_t state;

static int any(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (uint64_t)below);
}

static MPI_Datatype make(int depth)
{
    if (depth == 0)
        return MPI_BYTE;
    MPI_Datatype made, parts[MOST], old = make(depth - 1);
    int n = 1 + any(MOST), lengths[MOST], places[MOST], sizes[3], some[3], from[3];
    MPI_Aint far[MOST], lower, extent;
    MPI_Type_get_extent(old, &lower, &extent);
    for (int i = 0; i < MOST; i++) {
        lengths[i] = any(3), places[i] = 3 * any(6), far[i] = places[i] * extent + any(3);
        parts[i] = i % 2 ? MPI_BYTE : old;
    }
    lengths[0] = 1;
    for (int i = 0; i < 3; i++)
        some[i] = 1 + any(3), from[i] = any(2), sizes[i] = some[i] + from[i] + any(2);
    int order = any(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, each[2] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1};
    switch (any(12)) {
    case 0: MPI_Type_contiguous(n, old, &made); break;
    case 1: MPI_Type_vector(n, 1 + any(2), 1 + any(4), old, &made); break;
    case 2: MPI_Type_create_hvector(n, 1, 2 * extent + any(3), old, &made); break;
    case 3: MPI_Type_indexed(n, lengths, places, old, &made); break;
    case 4: MPI_Type_create_hindexed(n, lengths, far, old, &made); break;
    case 5: MPI_Type_create_indexed_block(n, 1 + any(2), places, old, &made); break;
    case 6: MPI_Type_create_hindexed_block(n, 1, far, old, &made); break;
    case 7: MPI_Type_create_struct(n, lengths, far, parts, &made); break;
    case 8: MPI_Type_create_subarray(1 + any(3), sizes, some, from, order, old, &made); break;
    case 9: MPI_Type_create_resized(old, lower, extent + any(4), &made); break;
    case 10: MPI_Type_dup(old, &made); break;
    default: sizes[0] += 2, MPI_Type_create_darray(2, any(2), 2, sizes, cyclic, each, grid, order, old, &made); break;
    }
    if (depth > 1)
        MPI_Type_free(&old);
    return made;
}

int main(int argc, char **argv)
{
    static unsigned char buffer[BYTES], left[BYTES], expected[BYTES], packed[BYTES];
    unsigned char *base;
    MPI_Win win;
    int times = argc > 1 ? atoi(argv[1]) : 1000, wrong = 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < times; i++) {
        MPI_Datatype type = make(1 + any(3));
        MPI_Aint lower, extent, true_lower, true_extent;
        int size, end = 0, count = 1 + any(2);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &size);
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Type_get_true_extent(type, &true_lower, &true_extent);
        if (true_lower + extent + true_extent < BYTES && count * size < BYTES) {
            for (int k = 0; k < BYTES; k++)
                buffer[k] = (unsigned char)any(256);
            MPI_Pack(buffer, count, type, packed, BYTES, &end, MPI_COMM_WORLD);
            MPI_Put(buffer, count, type, 0, 0, count * size, MPI_BYTE, win);
            MPI_Win_flush(0, win);
            int bad = memcmp(base, packed, (size_t)(count * size)) != 0;
            memset(left, 7, BYTES), memset(expected, 7, BYTES);
            end = 0;
            MPI_Unpack(packed, count * size, &end, expected, count, type, MPI_COMM_WORLD);
            MPI_Get(left, count, type, 0, 0, count * size, MPI_BYTE, win);
            MPI_Win_flush(0, win);
            bad += memcmp(left, expected, BYTES) != 0;
            if (bad && wrong++ < 5)
                printf("type %d of %d bytes: a put or a get differs\n", i, size);
        }
        MPI_Type_free(&type);
    }
    printf(wrong == 0 ? "right\n" : "%d of %d types differ\n", wrong, times);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong != 0;
}
