/* unheard SIGNAL: the last PE dies of SIGNAL while its standard error takes no more and nobody
 * reads it, and the others wait for it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rlimit no_core = {0, 0};
    char page[4096];
    int ends[2];
    shmem_init();
    shmem_barrier_all();
    if (argc != 2 || setrlimit(RLIMIT_CORE, &no_core) != 0)
        shmem_global_exit(2);
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
            shmem_global_exit(2);
        memset(page, 'x', sizeof page);
        while (write(ends[1], page, sizeof page) > 0)
            ;
        if (fcntl(ends[1], F_SETFL, 0) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
            shmem_global_exit(2);
        raise(atoi(argv[1]));
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
