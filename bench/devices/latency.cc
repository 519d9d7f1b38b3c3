// What it takes to have elements of an array that OpenMP has mapped on another PE's device: a put with a signal, one
// way, and an all-to-all. In the form `standard` they go through arrays in the symmetric heap, in the form `extended`
// the mapped arrays are symmetric. Prints lines
// as ../programs/bench.h defines them.
#include <shmemx.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

static bool extended;
static int me, npes;
static uint64_t flag;

static double now()
{
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void tell(const char *what, size_t bytes, std::vector<double> &times)
{
    std::sort(times.begin(), times.end());
    if (me == 0)
        printf("RESULT device.%s %zu %d ns %.1f %.1f %.1f %.1f %zu\n", what, bytes, npes, times.front(), times[times.size() / 2],
               std::accumulate(times.begin(), times.end(), 0.0) / times.size(), times.back(), times.size());
}

static void send(char *array, size_t bytes, uint64_t turn, int peer)
{
    if (extended) {
        #pragma omp target data use_device_ptr(array)
        shmem_putmem_signal(array, array, bytes, &flag, turn, SHMEM_SIGNAL_SET, peer);
    } else {
        #pragma omp target update from(array[0:bytes])
        shmem_putmem_signal(array, array, bytes, &flag, turn, SHMEM_SIGNAL_SET, peer);
    }
}

static void receive(char *array, size_t bytes, uint64_t turn)
{
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, turn);
    if (!extended) {
        #pragma omp target update to(array[0:bytes])
    }
    (void)array, (void)bytes;
}

int main(int argc, char **argv)
{
    extended = argc > 1 && strcmp(argv[1], "extended") == 0;
    const size_t most = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1 << 20;
    setenv("SHMEM_SYMMETRIC_PARTITION1", "2G:KIND=LIBOMP", 0);
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    if (extended && __tgt_set_device_allocator(0, nullptr, nullptr) != 0)
        return 1;
    auto array = [&](size_t bytes) {
        return extended ? new char[bytes]() : static_cast<char *>(shmem_calloc(bytes, 1));
    };
    const size_t whole = most * npes;
    char *a = array(whole), *b = array(whole);
    #pragma omp target data map(tofrom: a[0:whole], b[0:whole])
    {
        uint64_t turn = 0;
        for (size_t bytes = 8; bytes <= most; bytes *= 8) {
            const int times = bytes >= 1 << 20 ? 15 : 60;
            std::vector<double> puts, exchanges;
            for (int i = 0; i < times && npes > 1; i++) {
                shmem_barrier_all();
                double start = now();
                turn++;
                if (me == 0) {
                    send(a, bytes, turn, 1);
                    receive(a, bytes, turn);
                } else if (me == 1) {
                    receive(a, bytes, turn);
                    send(a, bytes, turn, 0);
                }
                puts.push_back((now() - start) / 2);
            }
            for (int i = 0; i < times; i++) {
                const size_t all = bytes * npes;
                shmem_barrier_all();
                double start = now();
                if (extended) {
                    #pragma omp target data use_device_ptr(a, b)
                    shmem_alltoallmem(SHMEM_TEAM_WORLD, b, a, bytes);
                } else {
                    #pragma omp target update from(a[0:all])
                    shmem_alltoallmem(SHMEM_TEAM_WORLD, b, a, bytes);
                    #pragma omp target update to(b[0:all])
                }
                exchanges.push_back(now() - start);
            }
            if (npes > 1)
                tell("put", bytes, puts);
            tell("alltoall", bytes, exchanges);
        }
        shmem_barrier_all();
    }
    if (me == 0)
        printf("DONE\n");
    shmem_finalize();
    return 0;
}
