/* PE 0 waits until PE i has sent i. */
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
        long expected[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        shmem_long_wait_until_all_vector(from, npes, NULL, SHMEM_CMP_EQ,
                                         expected);
        printf("%ld %ld %ld\n", from[1], from[2], from[3]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_until_all_vector
 * 1 2 3 */
