// pes: 1 2 4 7
/* rule 1.9: start_pes, again and again, with and without finalize. */
// case: implicit
// case: explicit explicit
// case: return-late late
#include "check.h"
#include <unistd.h>

static long mark;

int main(int argc, char **argv)
{
    start_pes(0);
    start_pes(4711);
    start_pes(-1);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK_EQ(_my_pe(), me);
    CHECK_EQ(_num_pes(), npes);
    shmem_long_p(&mark, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(mark, (me + npes - 1) % npes);
    if (argc > 1 && strcmp(argv[1], "explicit") == 0)
        shmem_finalize();
    else if (argc > 1 && me == 0) {
        /* The others are in their implicit end; it waits for PE 0, whose puts arrive. */
        usleep(100000);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(shmem_long_g(&mark, pe), (pe + npes - 1) % npes);
    }
    return 0;
}
