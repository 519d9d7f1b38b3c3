/* Each PE reserves room for its elements in an array on PE 0. */
#include <shmem.h>
#include <stdio.h>

static long used;
static int array[16];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int own[2] = {me, me};
    long at = shmem_long_atomic_fetch_add(&used, 2, 0);
    shmem_int_put(&array[at], own, 2, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%ld elements, sum %d\n", used,
               array[0] + array[2] + array[4]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./atomic_fetch_add
 * 6 elements, sum 3 */
