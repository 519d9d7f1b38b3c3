// Heat in a periodic cube of size x size x size points. PEs form a grid of blocks in three dimensions, and each
// exchanges the faces of its block with six neighbours while it computes what needs none of them.
#include "app.h"
#include "work.h"

static const int SIDES = 6; // below and above, of each dimension

static uint64_t came[SIDES]; // signals: the steps whose faces have come

// A block of points with a layer around it, for what belongs to its neighbours.
struct Block {
    long z, y, x; // points in each dimension
    long row() const { return x + 2; }
    long plane() const { return (y + 2) * row(); }
    long points() const { return (z + 2) * plane(); }
    // The points of a face of this dimension: rows, and points in each.
    long rows(int dimension) const { return dimension == 0 ? y : z; }
    long columns(int dimension) const { return dimension == 2 ? y : x; }
    long face() const { return std::max(y * x, std::max(z * x, z * y)); }
    // Where the faces of a side begin: the layer outside, or the points inside that a neighbour needs.
    long start(int side, bool outside) const
    {
        const long far[3] = {z, y, x}, stride[3] = {plane(), row(), 1}, all = plane() + row() + 1;
        const int dimension = side / 2;
        const long at = side % 2 == 0 ? (outside ? 0 : 1) : far[dimension] + (outside ? 1 : 0);
        return all - stride[dimension] + at * stride[dimension];
    }
    long row_stride(int dimension) const { return dimension == 0 ? row() : plane(); }
    long column_stride(int dimension) const { return dimension == 2 ? row() : 1; }
};

// Copies a face between a block and a row of points, on the device.
static void copy_face(double *block, double *face, const Block &b, int side, bool unpack)
{
    const int dimension = side / 2;
    const long rows = b.rows(dimension), columns = b.columns(dimension), start = b.start(side, unpack);
    const long by_row = b.row_stride(dimension), by_column = b.column_stride(dimension);
    #pragma omp target teams distribute parallel for
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < columns; c++) {
            double *point = &block[start + r * by_row + c * by_column];
            if (unpack)
                *point = face[r * columns + c];
            else
                face[r * columns + c] = *point;
        }
}

// One step of the points from `low` up to, not including, `high`.
static void relax(const double *old, double *fresh, const Block &b, const long (&low)[3], const long (&high)[3])
{
    const long row = b.row(), plane = b.plane(), z0 = low[0], z1 = high[0], y0 = low[1], y1 = high[1], x0 = low[2], x1 = high[2];
    if (z0 >= z1 || y0 >= y1 || x0 >= x1)
        return;
    #pragma omp target teams distribute parallel for collapse(2)
    for (long z = z0; z < z1; z++)
        for (long y = y0; y < y1; y++)
            for (long x = x0; x < x1; x++) {
                const long at = z * plane + y * row + x;
                fresh[at] = step(old[at], old[at - plane], old[at + plane], old[at - 1], old[at + 1], old[at - row], old[at + row]);
            }
}

int main(int argc, char **argv)
{
    App app("heat 3-D", argc, argv, 32);
    const long N = app.size;
    // As near to a cube as the number of PEs allows.
    long grid[3] = {1, 1, 1};
    for (long left = app.npes, factor = 2; left > 1; factor++)
        for (; left % factor == 0; left /= factor)
            *std::min_element(grid, grid + 3) *= factor;
    if (N % grid[0] != 0 || N % grid[1] != 0 || N % grid[2] != 0)
        app.fail("expected a size that can be divided among the PEs in each dimension");
    const Block b = {N / grid[0], N / grid[1], N / grid[2]};
    const long at[3] = {app.me / (grid[1] * grid[2]), app.me / grid[2] % grid[1], app.me % grid[2]};
    int neighbour[SIDES];
    for (int side = 0; side < SIDES; side++) {
        const int d = side / 2;
        long there[3] = {at[0], at[1], at[2]};
        there[d] = (at[d] + (side % 2 == 0 ? grid[d] - 1 : 1)) % grid[d];
        neighbour[side] = (there[0] * grid[1] + there[1]) * grid[2] + there[2];
    }
    // Of the faces there is one to send and, since a neighbour may be a step ahead, two to receive.
    const size_t n = b.points(), face = b.face(), faces = 3 * SIDES * face;
    double *old = new double[n](), *fresh = new double[n](), *edge = app.array<double>(faces);
    auto place = [&](int side, int which) { return (which * SIDES + side) * face; };
    for (long z = 1; z <= b.z; z++)
        for (long y = 1; y <= b.y; y++)
            for (long x = 1; x <= b.x; x++)
                old[z * b.plane() + y * b.row() + x] = initial(at[0] * b.z + z - 1, at[1] * b.y + y - 1, at[2] * b.x + x - 1);
    #pragma omp target data map(tofrom: old[0:n], fresh[0:n]) map(alloc: edge[0:faces])
    {
        app.begin();
        for (int i = 1; i <= STEPS; i++) {
            for (int side = 0; side < SIDES; side++) {
                const long from = place(side, 0), to = place(side ^ 1, 1 + i % 2), points = b.rows(side / 2) * b.columns(side / 2);
                copy_face(old, edge + from, b, side, false);
                if (app.extended) {
                    #pragma omp target data use_device_ptr(edge)
                    shmem_putmem_signal(edge + to, edge + from, points * sizeof(double), &came[side ^ 1], i, SHMEM_SIGNAL_SET,
                                        neighbour[side]);
                } else {
                    #pragma omp target update from(edge[from:points])
                    shmem_putmem_signal(edge + to, edge + from, points * sizeof(double), &came[side ^ 1], i, SHMEM_SIGNAL_SET,
                                        neighbour[side]);
                }
            }
            relax(old, fresh, b, {2, 2, 2}, {b.z, b.y, b.x});
            for (int side = 0; side < SIDES; side++) {
                const long from = place(side, 1 + i % 2), points = b.rows(side / 2) * b.columns(side / 2);
                shmem_signal_wait_until(&came[side], SHMEM_CMP_GE, i);
                if (!app.extended) {
                    #pragma omp target update to(edge[from:points])
                }
                (void)points;
                copy_face(old, edge + from, b, side, true);
            }
            // The shell: the lowest and highest plane, of the others the first and last row, of the others the ends.
            const long z = b.z + 1, y = b.y + 1, x = b.x + 1;
            relax(old, fresh, b, {1, 1, 1}, {2, y, x});
            relax(old, fresh, b, {std::max(b.z, 2L), 1, 1}, {z, y, x});
            relax(old, fresh, b, {2, 1, 1}, {b.z, 2, x});
            relax(old, fresh, b, {2, std::max(b.y, 2L), 1}, {b.z, y, x});
            relax(old, fresh, b, {2, 2, 1}, {b.z, b.y, 2});
            relax(old, fresh, b, {2, 2, std::max(b.x, 2L)}, {b.z, b.y, x});
            std::swap(old, fresh);
        }
        app.end();
    }
    const std::vector<double> whole = heated(N);
    long wrong = 0;
    for (long z = 1; z <= b.z; z++)
        for (long y = 1; y <= b.y; y++)
            for (long x = 1; x <= b.x; x++)
                wrong += old[z * b.plane() + y * b.row() + x] !=
                         whole[((at[0] * b.z + z - 1) * N + at[1] * b.y + y - 1) * N + at[2] * b.x + x - 1];
    delete[] old;
    delete[] fresh;
    app.release(edge);
    return app.report(double(STEPS) * N * N * N, "points", wrong);
}
