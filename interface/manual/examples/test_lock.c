/* A PE does something else while another one holds the lock. */
#include <shmem.h>
#include <stdio.h>

static long lock, counter;

int main(void)
{
    shmem_init();
    while (shmem_test_lock(&lock) != 0)
        ; /* something else is done here */
    shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./test_lock
 * 3 */
