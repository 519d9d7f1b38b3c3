/* traced N: N puts and gets in turn, none of which can be joined with its neighbours. Then PE 1, if there is one,
 * exits without finalising if N is odd. */
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>

static long x;

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes(), count = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < count; i++) {
        shmem_long_p(&x, i, to);
        shmem_long_g(&x, to);
    }
    shmem_barrier_all();
    if (count % 2 == 1 && me == 1)
        _exit(3);
    shmem_finalize();
    return 0;
}
