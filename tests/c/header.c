// pes: 1
// cflags: -std=c11 -pedantic -Wall -Wextra
/* rule 15.6: shmem.h stands alone, first in a file. */
#include <shmem.h>

/* rule 15.7: it does not bring complex.h, whose macro would take this name away. */
static int I = 3;
static size_t most = SIZE_MAX;
static ptrdiff_t difference;
static uint64_t unsigned_64;

/* rule 15.5: a compiler that did not know that global_exit never returns would object. */
_Noreturn static void leave(void)
{
    shmem_global_exit(I == 3 && most > 0 && difference == 0 && unsigned_64 == 0 ? 0 : 1);
}

int main(void)
{
    shmem_init();
    leave();
}
