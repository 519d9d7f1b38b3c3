// pes: 3
// case: cannot-serve | status=nonzero stderr=shmem_long_alltoall stderr=power env=SHMEM_ALLTOALL_ALGORITHM=xor
// case: unknown | status=nonzero stderr=SHMEM_BARRIER_ALGORITHM stderr=dissemination env=SHMEM_BARRIER_ALGORITHM=nonsense
// case: degree | status=nonzero stderr=SHMEM_TREE_DEGREE stderr=64 env=SHMEM_TREE_DEGREE=1
// case: old-name | env=SHMEM_BCAST_ALGORITHM=binomial
// case: can-serve | env=SHMEM_ALLTOALL_ALGORITHM=coloured env=SHMEM_BARRIER_ALGORITHM=kary env=SHMEM_TREE_DEGREE=2
// case: differing differ | status=nonzero stderr=SHMEM_*_ALGORITHM
/* Algorithms named by the environment: one that cannot serve a call, one that does not
 * exist, and PEs that disagree are told, not served by another one. */
#include "check.h"

int main(int argc, char **argv)
{
    static long in[3], out[3];
    const char *launched = getenv("ONESHMEM_PE"); /* starts with the PE's number */
    if (argc > 1 && !strcmp(argv[1], "differ") && launched && atoi(launched) == 1)
        setenv("SHMEM_SCAN_ALGORITHM", "linear", 1);
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 3; i++)
        in[i] = me * 10 + i;
    shmem_barrier_all();
    CHECK_EQ(shmem_long_alltoall(SHMEM_TEAM_WORLD, out, in, 1), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(out[i], i * 10 + me);
    CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, out, in, 3, 1), 0);
    CHECK_EQ(out[2], 12);
    shmem_finalize();
    return 0;
}
