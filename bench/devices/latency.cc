// What it takes to have elements of an array that OpenMP has mapped on another PE's device: a put with a signal, one
// way, and an all-to-all. In the form `standard`, the first argument, they go through arrays in the symmetric heap, in the
// form `extended` the mapped arrays are symmetric. Over MPI (-DBENCH_MPI) they go through arrays of the process.
#include "../programs/bench.h"
#ifndef BENCH_MPI
#include <shmemx.h>
#endif

static bool extended;
static char *first, *second; // mapped
static size_t size;
static uint64_t turn, flag;

static void send(int peer)
{
    char *array = first;
    if (!extended) {
        #pragma omp target update from(array[0:size])
    }
#ifdef BENCH_MPI
    MPI_Send(array, (int)size, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
#else
    #pragma omp target data use_device_ptr(array) if(extended)
    shmem_putmem_signal(array, array, size, &flag, turn, SHMEM_SIGNAL_SET, peer);
#endif
}

static void receive(int peer)
{
    char *array = first;
#ifdef BENCH_MPI
    MPI_Recv(array, (int)size, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    (void)peer;
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, turn);
#endif
    if (!extended) {
        #pragma omp target update to(array[0:size])
    }
}

static void put(long n)
{
    for (; n > 0 && bench.pe < 2; n--) {
        turn++;
        if (bench.pe == 0)
            send(1);
        receive(1 - bench.pe);
        if (bench.pe == 1)
            send(0);
    }
}

static void alltoall(long n)
{
    char *a = first, *b = second;
    const size_t all = size * bench.npes;
    for (; n > 0; n--) {
        if (!extended) {
            #pragma omp target update from(a[0:all])
        }
#ifdef BENCH_MPI
        MPI_Alltoall(a, (int)size, MPI_BYTE, b, (int)size, MPI_BYTE, MPI_COMM_WORLD);
#else
        #pragma omp target data use_device_ptr(a, b) if(extended)
        shmem_alltoallmem(SHMEM_TEAM_WORLD, b, a, size);
#endif
        if (!extended) {
            #pragma omp target update to(b[0:all])
        }
    }
}

// Measures from a pattern on, on every device, and then has the place of the result on the host.
static void measure(const char *name, void (*op)(long), int whose, double weight, char *result)
{
    char *a = first;
    const size_t all = size * bench.npes;
    bench_fill((unsigned char *)a, all, bench.pe + 1);
    #pragma omp target update to(a[0:all])
    bench_barrier();
    bench_measure({.name = name, .op = op, .size = size, .whose = whose, .unit = BENCH_NS, .weight = weight});
    bench_barrier();
    #pragma omp target update from(result[0:all])
}

int main(int argc, char **argv)
{
    const int forms = argc > 1 && strchr(argv[1], '=') == nullptr;
    extended = forms && strcmp(argv[1], "extended") == 0;
    setenv("SHMEM_SYMMETRIC_PARTITION1", "2G:KIND=LIBOMP", 0);
    bench_start(argc - forms, argv + forms);
#ifndef BENCH_MPI
    bench_check(!extended || __tgt_set_device_allocator(0, nullptr, nullptr) == 0, "mapped arrays cannot be symmetric");
#endif
    const size_t whole = bench.max * bench.npes;
    auto array = [&] { return extended ? new char[whole]() : static_cast<char *>(bench_alloc(whole)); };
    char *a = first = array(), *b = second = array();
    #pragma omp target data map(tofrom: a[0:whole], b[0:whole])
    for (size = bench_size_after(0, 1, bench.max); size > 0; size = bench_size_after(size, 1, bench.max)) {
        if (bench_wanted("device.put")) {
            measure("device.put", put, BENCH_FIRST, 2, a);
            if (bench.pe == 1)
                bench_verify((unsigned char *)a, size, 1, "put");
        }
        if (bench_wanted("device.alltoall")) {
            measure("device.alltoall", alltoall, BENCH_SLOWEST, 1, b);
            for (size_t i = 0; i < size * bench.npes; i++) {
                const size_t from = i / size, at = bench.pe * size + i % size;
                bench_check((unsigned char)b[i] == bench_pattern(at, from + 1), "all-to-all: byte %zu is %d", i, b[i]);
            }
        }
        bench_barrier();
    }
    bench_finish();
    return 0;
}
