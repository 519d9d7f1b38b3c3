/* PE 0 handles messages in the order in which they come, and waits only if there is none. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long from[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me != 0)
        shmem_long_atomic_set(&from[me], 10 * me, 0);
    if (me == 0) {
        int status[8] = {1};
        long sum = 0;
        for (int left = npes - 1; left > 0; left--) {
            size_t i = shmem_long_test_any(from, npes, status,
                                           SHMEM_CMP_NE, 0);
            if (i == SIZE_MAX) /* first, something else is done here */
                i = shmem_long_wait_until_any(from, npes, status,
                                              SHMEM_CMP_NE, 0);
            sum += from[i];
            status[i] = 1; /* this one is done */
        }
        printf("%ld\n", sum);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_any
 * 60 */
