/* Which bits are set on some PE. */
#include <shmem.h>
#include <stdio.h>

static long pSync[SHMEM_REDUCE_SYNC_SIZE];
static int source, dest, pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int me = shmem_my_pe();
    source = 1 << me;
    shmem_int_or_to_all(&dest, &source, 1, 0, 0, shmem_n_pes(), pWrk,
                        pSync);
    if (me == 0)
        printf("%d\n", dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./to_all_or
 * 7 */
