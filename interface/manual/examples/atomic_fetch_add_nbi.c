/* Each PE reserves room on two PEs at a time. */
#include <shmem.h>
#include <stdio.h>

static long used;

int main(void)
{
    shmem_init();
    long at[2];
    shmem_long_atomic_fetch_add_nbi(&at[0], &used, 10, 0);
    shmem_long_atomic_fetch_add_nbi(&at[1], &used, 10, 1);
    shmem_quiet(); /* the positions are there */
    if (at[0] % 10 != 0 || at[1] % 10 != 0)
        shmem_global_exit(1);
    shmem_barrier_all();
    printf("%ld\n", used);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./atomic_fetch_add_nbi
 * 20
 * 20 */
