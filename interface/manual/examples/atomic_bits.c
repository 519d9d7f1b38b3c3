/* Each PE sets, clears and flips its bit in masks on PE 0, then takes that back and checks that no other PE did. */
#include <shmem.h>
#include <stdio.h>

static unsigned int busy, idle = 0xff, phase = 0xf0;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    unsigned int bit = 1u << me;
    shmem_uint_atomic_or(&busy, bit, 0);
    shmem_uint_atomic_and(&idle, ~bit, 0);
    shmem_uint_atomic_xor(&phase, bit, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%#x %#x %#x\n", busy, idle, phase);
    shmem_sync_all();
    if (!(shmem_uint_atomic_fetch_and(&busy, ~bit, 0) & bit)
        || (shmem_uint_atomic_fetch_or(&idle, bit, 0) & bit)
        || !(shmem_uint_atomic_fetch_xor(&phase, bit, 0) & bit))
        shmem_global_exit(1);
    shmem_barrier_all();
    if (me == 0)
        printf("%#x %#x %#x\n", busy, idle, phase);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_bits
 * 0x7 0xf8 0xf7
 * 0 0xff 0xf0 */
