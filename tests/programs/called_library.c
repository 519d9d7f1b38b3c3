/* The user's own shared library, for called.c. */
#include <shmem.h>

void put_far(long *at)
{
    shmem_long_p(at, 1, 1000); /* a wrong argument */
    *at = 1;
}
