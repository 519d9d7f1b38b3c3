/* PE 0 works until all others have begun, then waits until they have ended. Element 0 is left out. */
#include <shmem.h>
#include <stdio.h>

static long at[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0) {
        int status[8] = {1};
        while (!shmem_long_test_all(at, npes, status, SHMEM_CMP_GE, 1))
            ; /* something else is done here */
        printf("all have begun\n");
        shmem_long_wait_until_all(at, npes, status, SHMEM_CMP_EQ, 2);
        printf("all have ended\n");
    } else {
        shmem_long_atomic_inc(&at[me], 0);
        shmem_long_atomic_inc(&at[me], 0);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./wait_all
 * all have begun
 * all have ended */
