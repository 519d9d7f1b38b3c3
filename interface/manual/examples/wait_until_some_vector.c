/* PE 0 counts the PEs that have sent their own number. */
#include <shmem.h>
#include <stdio.h>

static long from[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me != 0)
        shmem_long_atomic_set(&from[me], me, 0);
    if (me == 0) {
        long expected[8] = {-1, 1, 2, 3, 4, 5, 6, 7};
        int status[8] = {0};
        size_t indices[8], seen = 0;
        while (seen < (size_t)npes - 1) {
            size_t n = shmem_long_wait_until_some_vector(
                from, npes, indices, status, SHMEM_CMP_EQ, expected);
            for (size_t i = 0; i < n; i++)
                status[indices[i]] = 1;
            seen += n;
        }
        printf("%zu\n", seen);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_until_some_vector
 * 3 */
