/* traced N: N puts and gets in turn, none of which can be joined with its neighbours. Then PE 1, if there is one,
 * exits without finalising if N is odd. Without N, PE n contributes n + 1 numbers to one collect, and 100 times as many to
 * another. */
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>

static long x, part[1000], all[10000];

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes(), count = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < count; i++) {
        shmem_long_p(&x, i, to);
        shmem_long_g(&x, to);
    }
    for (int each = 1; argc == 1 && each <= 100; each += 99)
        shmem_long_collect(SHMEM_TEAM_WORLD, all, part, each * (me + 1));
    shmem_barrier_all();
    if (count % 2 == 1 && me == 1)
        _exit(3);
    shmem_finalize();
    return 0;
}
