/* PE 0 waits for one PE that has sent its own number. */
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
        size_t i = shmem_long_wait_until_any_vector(
            from, npes, NULL, SHMEM_CMP_EQ, expected);
        printf("%s\n", from[i] == expected[i] ? "right" : "wrong");
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_until_any_vector
 * right */
