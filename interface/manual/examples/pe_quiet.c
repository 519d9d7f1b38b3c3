/* Only what went to PE 2 is completed before PE 1 is told. */
#include <shmem.h>
#include <stdio.h>

static int data, flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int pes[1] = {2};
        for (int pe = 1; pe < shmem_n_pes(); pe++)
            shmem_int_p(&data, 42, pe);
        shmem_pe_quiet(pes, 1);
        shmem_int_atomic_set(&flag, 1, 1);
    } else if (shmem_my_pe() == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", shmem_int_g(&data, 2));
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./pe_quiet
 * 42 */
