/* Least, greatest, sum and product of the numbers of all PEs, then the bits that are set on all, some, or an odd number of PEs. Two sets of work arrays are taken in turn. */
#include <shmem.h>
#include <stdio.h>

static long pSync[2][SHMEM_REDUCE_SYNC_SIZE];
static int work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int value, min, max, sum, prod, all, some, odd;

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[0][i] = pSync[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int n = shmem_n_pes();
    value = 8 + shmem_my_pe();
    shmem_int_min_to_all(&min, &value, 1, 0, 0, n, work[0], pSync[0]);
    shmem_int_max_to_all(&max, &value, 1, 0, 0, n, work[1], pSync[1]);
    shmem_int_sum_to_all(&sum, &value, 1, 0, 0, n, work[0], pSync[0]);
    shmem_int_prod_to_all(&prod, &value, 1, 0, 0, n, work[1], pSync[1]);
    shmem_int_and_to_all(&all, &value, 1, 0, 0, n, work[0], pSync[0]);
    shmem_int_or_to_all(&some, &value, 1, 0, 0, n, work[1], pSync[1]);
    shmem_int_xor_to_all(&odd, &value, 1, 0, 0, n, work[0], pSync[0]);
    if (shmem_my_pe() == 0)
        printf("%d %d %d %d, %#x %#x %#x\n", min, max, sum, prod, all,
               some, odd);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./to_all
 * 8 10 27 720, 0x8 0xb 0xb */
