// pes: 2 4
// backends: memfd smartmap
/* A PE that dies because the memory of another has gone is not what ended the job: the other
 * is, with its status. Over XPMEM memory goes with its PE; here it is taken away
 * (the module kills a process that maps something else over an attachment). */
// case: exit exit | status=3 stderr=exited
// case: killed killed | status=137 stderr=SIGKILL
// case: nobody nobody | status=135 stderr=SIGBUS
#include "check.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static long x;

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        long *its = shmem_ptr(&x, 1);
        CHECK(its != NULL);
        char *page = (char *)((uintptr_t)its & -(uintptr_t)sysconf(_SC_PAGESIZE));
        FILE *empty = tmpfile();
        CHECK(mmap(page, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(empty), 0) == page);
        shmem_long_p(&x, 1, 1);
    }
    if (shmem_my_pe() == 1) {
        usleep(400000); /* so that PE 0 is seen to die first */
        if (strcmp(argv[1], "exit") == 0) _exit(3);
        if (strcmp(argv[1], "killed") == 0) raise(SIGKILL);
    }
    for (;;)
        sleep(1000);
}
