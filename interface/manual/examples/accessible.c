/* Which PEs and which addresses can be reached. */
#include <shmem.h>
#include <stdio.h>

static long global;

int main(void)
{
    long local;
    shmem_init();
    if (shmem_my_pe() == 0) {
        printf("PE 1: %d, PE 7: %d\n", shmem_pe_accessible(1),
               shmem_pe_accessible(7));
        printf("global: %d, local: %d\n",
               shmem_addr_accessible(&global, 1),
               shmem_addr_accessible(&local, 1));
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./accessible
 * PE 1: 1, PE 7: 0
 * global: 1, local: 0 */
