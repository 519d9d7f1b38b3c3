// The programs of examples/openmp over MPI: arrays that OpenMP has mapped to its device are copied to the host, communicated by
// messages, and copied back. The same work, arithmetic and checks. Which of them it is says the name under which it is started.
#include "../../examples/openmp/work.h"
#include "../programs/bench.h"

static int me, ranks;
static double begun, seconds;

static int report(const char *name, long size, double work, const char *unit, long wrong)
{
    long all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && all == 0)
        printf("%s mpi, size %ld, %d PEs: %.6f s, %.4g %s/s, verified\n", name, size, ranks, seconds, work / seconds, unit);
    if (me == 0 && all != 0)
        fprintf(stderr, "%s: %ld elements are wrong\n", name, all);
    return all != 0;
}

static void begin()
{
    bench_barrier();
    begun = bench_now();
}

static void end()
{
    bench_barrier();
    seconds = (bench_now() - begun) / 1e9;
}

// Updates travel as messages; each rank serves what has come while it waits for its own to be sent.
static int random_access(long size)
{
    struct Letter { uint64_t at, value; };
    const uint64_t words = size;
    const long updates = 4 * size;
    std::vector<uint64_t> memory(words);
    uint64_t *table = memory.data();
    #pragma omp target data map(tofrom: table[0:words])
    {
        Letter in;
        MPI_Request receive;
        int finished = 0;
        auto listen = [&] { MPI_Irecv(&in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive); };
        auto serve = [&] {
            int came = 0;
            MPI_Status status;
            while (MPI_Test(&receive, &came, &status), came) {
                finished += status.MPI_TAG;
                uint64_t at = in.at;
                if (status.MPI_TAG == 0) {
                    #pragma omp target update from(table[at:1])
                    table[at] ^= in.value;
                    #pragma omp target update to(table[at:1])
                }
                listen();
            }
        };
        begin();
        listen();
        uint64_t random = me * 77 + 1;
        for (long i = 0; i < updates + ranks; i++) {
            // At the end a letter to each rank that says so.
            random = next(random);
            const bool last = i >= updates;
            Letter letter = {(random >> 20) % words, random};
            MPI_Request send;
            MPI_Isend(&letter, sizeof letter, MPI_BYTE, last ? int(i - updates) : int((random >> 40) % ranks), last, MPI_COMM_WORLD, &send);
            for (int sent = 0; !sent; MPI_Test(&send, &sent, MPI_STATUS_IGNORE))
                serve();
        }
        while (finished < ranks)
            serve();
        end();
        MPI_Cancel(&receive);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    const long wrong = lost_updates(table, words, updates, me, ranks);
    return report("random access", size, double(updates) * ranks, "updates", wrong);
}

static int fft2d(long N)
{
    const long rows = N / ranks, block = rows * rows;
    const size_t n = N * rows;
    std::vector<Complex> memory(3 * n);
    Complex *mine = memory.data(), *out = mine + n, *in = out + n;
    fill_rows(mine, N, rows, me);
    #pragma omp target data map(tofrom: mine[0:n]) map(alloc: out[0:n], in[0:n])
    for (int sign = -1; sign <= 1; sign += 2) {
        begin();
        for (int direction = 0; direction < 2; direction++) {
            transform_rows(mine, out, N, rows, sign);
            #pragma omp target update from(out[0:n])
            MPI_Alltoall(out, block * sizeof(Complex), MPI_BYTE, in, block * sizeof(Complex), MPI_BYTE, MPI_COMM_WORLD);
            #pragma omp target update to(in[0:n])
            turn_blocks(in, mine, N, rows);
        }
        if (sign < 0)
            end();
    }
    return report("FFT 2-D", N, 5.0 * N * N * 2 * std::log2(N), "operations", not_restored(mine, N, rows, me));
}

static int ring_product(long S)
{
    const long N = S * ranks;
    const size_t n = N * S;
    std::vector<float> memory(4 * n);
    float *A = memory.data(), *B = A + n, *C = B + n, *D = C + n;
    fill_stripes(A, B, S, N, me);
    #pragma omp target data map(to: A[0:n], B[0:n]) map(tofrom: C[0:n]) map(alloc: D[0:n])
    {
        begin();
        for (int turn = 0; turn < ranks; turn++) {
            const int stripe = (me + turn) % ranks;
            multiply(A, B, C, S, N, stripe);
            if (turn < ranks - 1) {
                #pragma omp target update from(B[0:n])
                MPI_Sendrecv(B, n, MPI_FLOAT, (me + ranks - 1) % ranks, 0, D, n, MPI_FLOAT, (me + 1) % ranks, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                #pragma omp target update to(D[0:n])
                std::swap(B, D);
            }
        }
        end();
    }
    return report("ring product", S, 2.0 * N * N * N, "operations", wrong_products(C, S, N, me));
}

// Slabs of planes of a periodic cube (not blocks: two messages a step), exchanged while the planes between are computed.
static int heat3d(long N)
{
    const long plane = N * N, planes = N / ranks;
    const size_t n = plane * (planes + 2);
    std::vector<double> first(n), second(n);
    double *old = first.data(), *fresh = second.data();
    for (long z = 1; z <= planes; z++)
        for (long i = 0; i < plane; i++)
            old[z * plane + i] = initial(me * planes + z - 1, i / N, i % N);
    const int below = (me + ranks - 1) % ranks, above = (me + 1) % ranks;
    auto relax = [&](double *old, double *fresh, long low, long high) {
        #pragma omp target teams distribute parallel for collapse(2)
        for (long z = low; z < high; z++)
            for (long y = 0; y < N; y++)
                for (long x = 0; x < N; x++) {
                    const double *at = old + z * plane;
                    const long up = (y + 1) % N * N, down = (y + N - 1) % N * N;
                    fresh[z * plane + y * N + x] = step(at[y * N + x], at[y * N + x - plane], at[y * N + x + plane],
                                                        at[y * N + (x + N - 1) % N], at[y * N + (x + 1) % N], at[down + x], at[up + x]);
                }
    };
    #pragma omp target data map(tofrom: old[0:n], fresh[0:n])
    {
        begin();
        for (int i = 0; i < STEPS; i++) {
            MPI_Request all[4];
            const long last = planes * plane, outside = last + plane;
            #pragma omp target update from(old[plane:plane])
            #pragma omp target update from(old[last:plane])
            MPI_Irecv(old, plane, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &all[0]);
            MPI_Irecv(old + outside, plane, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &all[1]);
            MPI_Isend(old + last, plane, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &all[2]);
            MPI_Isend(old + plane, plane, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &all[3]);
            relax(old, fresh, 2, planes);
            MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
            #pragma omp target update to(old[0:plane])
            #pragma omp target update to(old[outside:plane])
            relax(old, fresh, 1, 2);
            if (planes > 1)
                relax(old, fresh, planes, planes + 1);
            std::swap(old, fresh);
        }
        end();
    }
    const std::vector<double> whole = heated(N);
    long wrong = 0;
    for (long i = 0; i < planes * plane; i++)
        wrong += old[plane + i] != whole[me * planes * plane + i];
    return report("heat 3-D", N, double(STEPS) * N * N * N, "points", wrong);
}

int main(int argc, char **argv)
{
    bench_begin_job(argc, argv);
    me = bench.pe, ranks = bench.npes;
    const char *slash = strrchr(argv[0], '/'), *what = slash ? slash + 1 : argv[0];
    const long size = argc > 1 ? atol(argv[1]) : 0;
    const struct { const char *name; int (*run)(long); bool divides; } programs[] = {
        {"random_access", random_access, false}, {"ring_product", ring_product, false},
        {"fft2d", fft2d, true}, {"heat3d", heat3d, true},
    };
    int status = -1;
    for (auto &program : programs)
        if (strcmp(what, program.name) == 0 && size > 0 && !(program.divides && size % ranks != 0))
            status = program.run(size);
    bench_check(status >= 0, "expected a program and a size that the ranks can share");
    bench_leave_job();
    return status;
}
