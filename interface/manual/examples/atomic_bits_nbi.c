/* Each PE changes its bit in three masks on PE 0 at once; what the masks were comes later. */
#include <shmem.h>
#include <stdio.h>

static unsigned int busy, idle = 0xff, phase = 0xf0;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    unsigned int bit = 1u << me, before[3];
    shmem_uint_atomic_fetch_or_nbi(&before[0], &busy, bit, 0);
    shmem_uint_atomic_fetch_and_nbi(&before[1], &idle, ~bit, 0);
    shmem_uint_atomic_fetch_xor_nbi(&before[2], &phase, bit, 0);
    /* Something else is done here. */
    shmem_quiet();
    if ((before[0] & bit) || !(before[1] & bit) || (before[2] & bit))
        shmem_global_exit(1);
    shmem_barrier_all();
    if (me == 0)
        printf("%#x %#x %#x\n", busy, idle, phase);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_bits_nbi
 * 0x7 0xf8 0xf7 */
