/* Each PE clears its bit in a mask on PE 0. */
#include <shmem.h>
#include <stdio.h>

static unsigned int mask = 0xff;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_uint_atomic_and(&mask, ~(1u << me), 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%#x\n", mask);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_and
 * 0xf8 */
