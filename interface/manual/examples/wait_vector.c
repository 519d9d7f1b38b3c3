/* PE i counts to i on PE 0, which handles who is first, then those who are next, then all others. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long counts[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int i = 0; i < me; i++)
        shmem_long_atomic_inc(&counts[me], 0);
    if (me == 0) {
        const int eq = SHMEM_CMP_EQ;
        long ends[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        int status[8] = {1};
        size_t i, n, next[8];
        i = shmem_long_test_any_vector(counts, npes, status, eq, ends);
        if (i == SIZE_MAX) /* first, something else is done here */
            i = shmem_long_wait_until_any_vector(counts, npes, status,
                                                 eq, ends);
        status[i] = 1; /* this one is done */
        n = shmem_long_test_some_vector(counts, npes, next, status, eq,
                                        ends);
        if (n == 0)
            n = shmem_long_wait_until_some_vector(counts, npes, next,
                                                  status, eq, ends);
        while (n > 0)
            status[next[--n]] = 1;
        if (!shmem_long_test_all_vector(counts, npes, status, eq, ends))
            shmem_long_wait_until_all_vector(counts, npes, status, eq,
                                             ends);
        printf("%ld %ld %ld\n", counts[1], counts[2], counts[3]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_vector
 * 1 2 3 */
