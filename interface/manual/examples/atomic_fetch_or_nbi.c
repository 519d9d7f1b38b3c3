/* Each PE sets its bit in a mask on PE 0; what the mask was comes later. */
#include <shmem.h>
#include <stdio.h>

static unsigned int mask = 0;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    unsigned int before;
    shmem_uint_atomic_fetch_or_nbi(&before, &mask, 1u << me, 0);
    /* Something else is done here. */
    shmem_quiet();
    if (!(~before >> me & 1))
        shmem_global_exit(1);
    shmem_barrier_all();
    if (me == 0)
        printf("%#x\n", mask);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_fetch_or_nbi
 * 0x7 */
