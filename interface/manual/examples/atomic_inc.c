/* PE 0 counts the PEs. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void)
{
    shmem_init();
    shmem_long_atomic_inc(&counter, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 5 ./atomic_inc
 * 5 */
