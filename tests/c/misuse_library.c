// pes: 2
// variants: pie no-pie
/* rule 0.8: objects of a shared library are not symmetric; the message says whose it is. */
// case: data | status=nonzero stderr=shmem_getmem stderr=source stderr=libc
#include "check.h"

int main(void)
{
    shmem_init();
    char local[8];
    /* What stdout points to is an object in the C library's data segment. */
    shmem_getmem(local, stdout, sizeof local, 1 - shmem_my_pe());
    shmem_finalize();
    return 0;
}
