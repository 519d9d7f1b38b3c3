/* The address of the next PE's memory, for a kernel on this PE's device. The partition has KIND=CUDA; without one there is nothing to show. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    double *field = shmemx_partition_malloc(1000 * sizeof *field, 1);
    double *there = shmemx_device_ptr(field, next);
    if (there == NULL)
        printf("PE %d: no device memory\n", me);
    else
        printf("PE %d: a kernel reads PE %d\n", me, next);
    shmem_free(field);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./device_ptr
 * PE 0: no device memory
 * PE 1: no device memory */
