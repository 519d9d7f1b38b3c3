/* closes: all PEs but the last close all descriptors but the standard ones as soon as they are PEs, and reuse
 * the numbers. */
#include "../c/check.h"
#include <fcntl.h>
#include <unistd.h>

static long told[MAX_PES];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int file = 3; file < 1024 && me < npes - 1; file++)
        close(file);
    for (int file = 3; file < 20; file++)
        CHECK(open("/dev/null", O_RDWR) >= 0);
    shmem_barrier_all();
    long *block = shmem_malloc(1 << 20);
    CHECK(block != NULL);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&told[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(told[pe], pe + 1);
    shmem_finalize();
    return 0;
}
