// pes: 1 2
// partition: no
// case: first first | status=nonzero stderr=shmem_free stderr=shmem_realloc
// case: second second | status=nonzero stderr=shmem_free stderr=shmem_realloc
// case: realloc realloc | status=nonzero stderr=shmem_free stderr=shmem_realloc
/* The C library does not know blocks of the symmetric heap: the message of its end says who does. */
#include "check.h"
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_init();
    char *volatile first = (char *)shmem_malloc(100);
    char *volatile second = (char *)shmem_malloc(100);
    memset(first, 0x55, 100);
    memset(second, 0x55, 100);
    if (shmem_my_pe() == 0) {
        if (strcmp(what, "realloc") == 0)
            second = (char *)realloc(second, 1000);
        else
            free(strcmp(what, "first") == 0 ? first : second);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
