/* An array that OpenMP maps, once in the partition and once in ordinary memory. Compile with clang's OpenMP: SHMEM_CC=clang oshcc -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu openmp_maps.c. */
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>

static void show(const char *what, double *array)
{
    #pragma omp target data map(alloc: array[0:100])
    #pragma omp target data use_device_ptr(array)
    printf("%s: partition %d\n", what, shmemx_partition_of(array));
}

int main(void)
{
    double array[100];
    shmem_init();
    __tgt_set_device_allocator(0, NULL, NULL);
    show("mapped", array);
    int before = shmemx_openmp_maps(0);
    show("not in the partition", array);
    shmemx_openmp_maps(before);
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=8M:KIND=LIBOMP oshrun -n 1 ./openmp_maps
 * mapped: partition 1
 * not in the partition: partition -2 */
