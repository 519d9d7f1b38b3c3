// pes: 1 2
// cflags: -fno-stack-protector
/* A local array is written past its end, over the return address: the report names the function, and says what
 * has become of the stack. */
// case: little 40 | status=139 stderr=SIGSEGV stderr=victim stderr=overwritten
// case: more 200 | status=139 stderr=SIGSEGV stderr=victim stderr=overwritten
// case: much 3000 | status=139 stderr=SIGSEGV stderr=victim stderr=overwritten
#include "check.h"

__attribute__((noinline)) static void fill(volatile char *at, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = 'A';
}

__attribute__((noinline)) static int victim(int bytes)
{
    char array[16];
    fill(array, bytes);
    return array[3];
}

int main(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    shmem_init();
    victim(atoi(argv[1]));
    shmem_finalize();
    return 0;
}
