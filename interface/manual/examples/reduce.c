/* Least, greatest, sum and product of the numbers of all PEs, then the bits that are set on all, some, or an odd number of PEs. */
#include <shmem.h>
#include <stdio.h>

static unsigned int value, min, max, sum, prod, all, some, odd;

int main(void)
{
    shmem_init();
    shmem_team_t world = SHMEM_TEAM_WORLD;
    value = 8 + shmem_my_pe();
    shmem_uint_min_reduce(world, &min, &value, 1);
    shmem_uint_max_reduce(world, &max, &value, 1);
    shmem_uint_sum_reduce(world, &sum, &value, 1);
    shmem_uint_prod_reduce(world, &prod, &value, 1);
    shmem_uint_and_reduce(world, &all, &value, 1);
    shmem_uint_or_reduce(world, &some, &value, 1);
    shmem_uint_xor_reduce(world, &odd, &value, 1);
    if (shmem_my_pe() == 0)
        printf("%u %u %u %u, %#x %#x %#x\n", min, max, sum, prod, all,
               some, odd);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./reduce
 * 8 10 27 720, 0x8 0xb 0xb */
