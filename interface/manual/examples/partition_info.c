/* The properties of partition 1. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmemx_partition_info_t info;
    if (shmemx_partition_info(1, &info) == 0) {
        printf("%s, %zu bytes\n", info.kind, info.size);
        if (info.caps & SHMEMX_PARTITION_LOAD_STORE)
            printf("shmem_ptr works\n");
    }
    shmem_finalize();
    return 0;
}

/* $ SHMEM_SYMMETRIC_PARTITION1=1M oshrun -n 1 ./partition_info
 * NORMALMEM, 1048576 bytes
 * shmem_ptr works */
