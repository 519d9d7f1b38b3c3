/* All PEs race for a variable on PE 0. One of them finds -1, and wins. */
#include <shmem.h>
#include <stdio.h>

static int winner = -1;
static int wins;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int found = shmem_int_atomic_compare_swap(&winner, -1, me, 0);
    if (found == -1)
        shmem_int_atomic_inc(&wins, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d PE has won\n", wins);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./atomic_compare_swap
 * 1 PE has won */
