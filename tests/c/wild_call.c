// pes: 1 2
/* A call through a pointer to where no code is: the report says that nothing is there, and names the function that
 * has called. */
// case: null 0 | status=139 stderr=0x0, stderr=caller+ stderr=main+
// case: nowhere 1 | status=139 stderr=0x414141414141, stderr=caller+ stderr=main+
// case: heap 2 | status=139 stderr=caller+ stderr=main+
// case: data 3 | status=139 stderr=caller+ stderr=main+
#include "check.h"

typedef int routine(void);

static volatile int data;
static routine *volatile pointer;

__attribute__((noinline)) static int caller(void)
{
    return pointer() + 1;
}

int main(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    shmem_init();
    void *to[] = {NULL, (void *)0x414141414141, malloc(64), (void *)&data};
    pointer = (routine *)to[atoi(argv[1])];
    data = caller();
    shmem_finalize();
    return 0;
}
