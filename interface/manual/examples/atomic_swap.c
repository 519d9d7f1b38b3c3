/* All PEs race for a variable on PE 0. The one that finds -1 wins, and gives the start. Then the PEs line up: each leaves its number and takes what it finds. */
#include <shmem.h>
#include <stdio.h>

static int winner = -1, started, last = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    if (shmem_int_atomic_compare_swap(&winner, -1, me, 0) == -1)
        shmem_int_atomic_set(&started, 1, 0);
    while (!shmem_int_atomic_fetch(&started, 0))
        ; /* something else is done here */
    int before = shmem_int_atomic_swap(&last, me, 0);
    printf("%s\n", before == -1 ? "first in line" : "behind another");
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_swap
 * first in line
 * behind another
 * behind another */
