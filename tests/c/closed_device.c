// pes: 2
// backends: xpmem
/* XPMEM withdraws all memory of a process that closes a descriptor of the module's device. The
 * job ends and says so, whether the number is free then or a file of the program's. */
// case: close close | status=1 stderr=closed stderr=/dev/xpmem
// case: reuse reuse | status=1 stderr=closed stderr=/dev/xpmem
// case: duplicate duplicate | status=1 stderr=closed stderr=/dev/xpmem
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

enum { FIRST = 3, LAST = 64 };

static long word = -1;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    shmem_init();
    for (int fd = FIRST; fd < LAST; fd++)
        close(strcmp(argv[1], "duplicate") == 0 ? dup(fd) : fd);
    if (strcmp(argv[1], "reuse") == 0)
        for (int fd = FIRST; fd < LAST; fd++)
            CHECK(open("/dev/null", O_RDWR) >= 0);
    shmem_long_p(&word, 7, 1 - shmem_my_pe()); /* attaches */
    shmem_finalize();
    return 0;
}
