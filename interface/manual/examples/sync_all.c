/* All PEs initialise a variable before any PE reads it. No put is pending, so no barrier is needed. */
#include <shmem.h>
#include <stdio.h>

static int number;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    number = 10 * me;
    shmem_sync_all();
    printf("PE %d: %d\n", me, shmem_int_g(&number, 1 - me));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./sync_all
 * PE 0: 10
 * PE 1: 0 */
