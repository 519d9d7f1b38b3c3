/* row HOW: one of several programs that a job runs one after the other. Every PE checks that
 * nothing of another program is in its static data, that its barriers wait for all and that
 * no put is lost. HOW: "slowly" leaves late, "unfinished" leaves without shmem_finalize,
 * "killed" by a signal: the last PE, in each case. */
#include "../c/check.h"
#include <signal.h>
#include <unistd.h>

static long arrived, box[64];

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK_EQ(arrived, 0);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), last = me == npes - 1;
    const char *how = argv[1];
    CHECK_EQ(box[me], 0);
    for (int round = 1; round <= 20; round++) {
        shmem_long_atomic_inc(&arrived, 0);
        shmem_barrier_all();
        CHECK_EQ(shmem_long_atomic_fetch(&arrived, 0), (long)round * npes);
        shmem_barrier_all();
    }
    long *heap = shmem_calloc(npes, sizeof *heap);
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_p(&box[me], me + 100, pe);
        shmem_long_p(&heap[me], me + 200, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(box[pe], pe + 100);
        CHECK_EQ(heap[pe], pe + 200);
    }
    if (last && strcmp(how, "unfinished") == 0)
        return 0;
    if (last && strcmp(how, "killed") == 0)
        raise(SIGKILL);
    shmem_finalize();
    if (last && strcmp(how, "slowly") == 0)
        usleep(300000);
    return 0;
}
