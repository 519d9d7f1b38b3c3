/* PE 0 waits for all others. Element 0 is left out. */
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
        int status[8] = {1};
        shmem_long_wait_until_all(from, npes, status, SHMEM_CMP_NE, 0);
        printf("%ld %ld %ld\n", from[1], from[2], from[3]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_until_all
 * 1 2 3 */
