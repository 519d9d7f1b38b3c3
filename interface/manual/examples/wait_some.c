/* PE 0 handles all messages that are there, and waits only if there is none. */
#include <shmem.h>
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
        size_t indices[8];
        long sum = 0;
        for (int left = npes - 1; left > 0;) {
            size_t n = shmem_long_test_some(from, npes, indices, status,
                                            SHMEM_CMP_NE, 0);
            if (n == 0) /* first, something else is done here */
                n = shmem_long_wait_until_some(from, npes, indices,
                                               status, SHMEM_CMP_NE, 0);
            for (size_t i = 0; i < n; i++) {
                sum += from[indices[i]];
                status[indices[i]] = 1; /* this one is done */
            }
            left -= n;
        }
        printf("%ld\n", sum);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_some
 * 60 */
