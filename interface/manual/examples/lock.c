/* A counter on PE 0 that only the holder of the lock changes. PEs with odd numbers do something else until they get the lock. */
#include <shmem.h>
#include <stdio.h>

static long lock, counter;

int main(void)
{
    shmem_init();
    for (int i = 0; i < 100; i++) {
        if (shmem_my_pe() % 2 == 0)
            shmem_set_lock(&lock);
        else
            while (shmem_test_lock(&lock) != 0)
                ; /* something else is done here */
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock); /* completes the put */
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./lock
 * 400 */
