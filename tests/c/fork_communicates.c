// pes: 1 2
/* A child of a PE is no PE: communication from it is an error that says so. */
// case: child | stderr=fork
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static long data = 1;

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmem_long_p(&data, 99, pe);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    CHECK_EQ(data, 1);
    shmem_barrier_all();
    CHECK_EQ(data, 1);
    shmem_finalize();
    return 0;
}
