/* PEs take numbers from a counter on a cache line of its own, count them in a table of zeros by their last digit, and signal to PE 0 when they are done. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    long *next = shmem_align(64, 64);
    long *table = shmem_calloc(10, sizeof *table);
    uint64_t *done = shmem_malloc_with_hints(
        sizeof *done, SHMEM_MALLOC_SIGNAL_REMOTE);
    if (next == NULL || table == NULL || done == NULL)
        shmem_global_exit(1);
    *next = 0;
    *done = 0;
    shmem_sync_all();
    long number;
    while ((number = shmem_long_atomic_fetch_inc(next, 0)) < 75)
        shmem_long_atomic_inc(&table[number % 10], 0);
    shmem_fence(); /* the table first, then the signal */
    shmem_signal_add(done, 1, 0);
    if (shmem_my_pe() == 0) {
        shmem_signal_wait_until(done, SHMEM_CMP_EQ, shmem_n_pes());
        printf("%ld end with 4, %ld with 5\n", table[4], table[5]);
    }
    shmem_free(done);
    shmem_free(table);
    shmem_free(next);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./calloc
 * 8 end with 4, 7 with 5 */
