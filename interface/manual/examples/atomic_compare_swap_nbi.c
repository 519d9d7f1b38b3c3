/* All PEs race for two variables at a time. */
#include <shmem.h>
#include <stdio.h>

static int winner[2] = {-1, -1}, wins;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), found[2];
    for (int i = 0; i < 2; i++)
        shmem_int_atomic_compare_swap_nbi(&found[i], &winner[i], -1, me,
                                          0);
    shmem_quiet();
    shmem_int_atomic_add(&wins, (found[0] == -1) + (found[1] == -1), 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d races were won\n", wins);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./atomic_compare_swap_nbi
 * 2 races were won */
