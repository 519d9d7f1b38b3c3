/* A counter on PE 0 that only the holder of the lock changes. */
#include <shmem.h>
#include <stdio.h>

static long lock, counter;

int main(void)
{
    shmem_init();
    for (int i = 0; i < 100; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock); /* completes the put */
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./set_lock
 * 400 */
