/* PE 0 reads a counter that the other PEs increment. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() != 0)
        shmem_long_atomic_inc(&counter, 0);
    else
        while (shmem_long_atomic_fetch(&counter, 0) < shmem_n_pes() - 1)
            ; /* something else is done here */
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", shmem_long_atomic_fetch(&counter, 0));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_fetch
 * 2 */
