/* Times a barrier. */
#include <shmemx.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    double start = shmemx_wtime();
    shmem_barrier_all();
    double seconds = shmemx_wtime() - start;
    if (shmem_my_pe() == 0)
        puts(seconds > 0 ? "it took some time" : "it took no time");
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wtime
 * it took some time */
