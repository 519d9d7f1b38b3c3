/* Which bits are set on all PEs. */
#include <shmem.h>
#include <stdio.h>

static unsigned int source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = ~(1u << me);
    shmem_uint_and_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    if (me == 0)
        printf("%#x\n", dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./reduce_and
 * 0xfffffff8 */
