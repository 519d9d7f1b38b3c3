/* An array and a flag that says it is there: a fence orders the two on one PE. If data and flag are on different PEs, the data is completed first. PE 1 waits for its flag, PE 0 works until it has an answer. */
#include <shmem.h>
#include <stdio.h>

static int data[2], flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int source[2] = {3, 4}, pes[1] = {2};
        shmem_int_put(data, source, 2, 1);
        shmem_fence();
        shmem_int_atomic_inc(&flag, 1);
        shmem_int_put(data, source, 2, 2);
        shmem_pe_quiet(pes, 1); /* completes what went to PE 2 */
        shmem_int_atomic_inc(&flag, 1);
        while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1))
            ; /* something else is done here */
        printf("PE 0 is told of %d\n", shmem_int_g(data, 3));
    } else if (shmem_my_pe() == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_GE, 1);
        printf("PE 1 has %d and %d\n", data[0], data[1]);
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 2);
        shmem_int_p(data, 10 * shmem_int_g(data, 2), 3);
        shmem_quiet(); /* completes everything */
        shmem_int_atomic_inc(&flag, 0);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./fence
 * PE 1 has 3 and 4
 * PE 0 is told of 30 */
