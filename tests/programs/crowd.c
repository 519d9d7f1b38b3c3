// One of very many: comes, meets the others, leaves.

#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%d met\n", shmem_n_pes());
    shmem_finalize();
    return 0;
}
