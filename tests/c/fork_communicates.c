// pes: 1 2
/* A child of a PE is no PE: its communication is an error that says so and ends the
 * child. Nothing has been written, and the job goes on. */
// case: child | stderr=fork
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static long data = 1;

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++) {
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            shmem_long_p(&data, 99, pe);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
    shmem_barrier_all();
    CHECK_EQ(data, 1);
    shmem_barrier_all();
    shmem_long_p(&data, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(data, (me + npes - 1) % npes);
    shmem_finalize();
    return 0;
}
