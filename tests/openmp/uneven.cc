// One PE maps an array more than the others: under SHMEM_DEBUG it is told.
#include <shmemx.h>

#include <cstdint>

int main()
{
    shmem_init();
    if (__tgt_set_device_allocator(0, nullptr, nullptr) != 0)
        return 1;
    auto a = new double[100](), b = new double[50]();
    if (shmem_my_pe() == 1) {
        #pragma omp target enter data map(to: a[0:100])
    }
    #pragma omp target data map(to: b[0:50])
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
