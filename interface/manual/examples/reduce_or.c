/* Which bits are set on some PE. */
#include <shmem.h>
#include <stdio.h>

static unsigned int source, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    source = 1u << me;
    shmem_uint_or_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    if (me == 0)
        printf("%#x\n", dest);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./reduce_or
 * 0x7 */
