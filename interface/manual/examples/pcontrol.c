/* A tool that counts puts while profiling is on, in the program itself. Tools are mostly in a library of their own. */
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>

static int on = 1, calls;

void shmem_pcontrol(int level, ...)
{
    on = level > 0;
}

void shmem_long_p(long *dest, long value, int pe)
{
    calls += on;
    pshmem_long_p(dest, value, pe);
}

int main(void)
{
    static long word;
    shmem_init();
    shmem_long_p(&word, 1, 0);
    shmem_pcontrol(0);
    shmem_long_p(&word, 2, 0);
    shmem_pcontrol(1);
    shmem_long_p(&word, 3, 0);
    printf("%d of 3 calls were counted\n", calls);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./pcontrol
 * 2 of 3 calls were counted */
