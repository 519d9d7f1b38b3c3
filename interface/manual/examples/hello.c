/* Each PE says its number. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./hello
 * PE 0 of 2
 * PE 1 of 2 */
