/* Each PE sends PE i so many numbers as i says. */
#include <shmemx.h>
#include <stdio.h>

#define MOST 4 /* PEs */

static long source[MOST * MOST], dest[MOST * MOST];
static size_t from[MOST], to[MOST], sent[MOST], got[MOST];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes && npes <= MOST; pe++) {
        from[pe] = to[pe] = (size_t)pe * MOST * sizeof(long);
        sent[pe] = (size_t)pe * sizeof(long);
        for (int i = 0; i < pe; i++)
            source[pe * MOST + i] = me;
    }
    shmem_barrier_all();
    shmemx_alltoallvmem(SHMEM_TEAM_WORLD, dest, to, got,
                        source, from, sent);
    long sum = 0;
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < got[pe] / sizeof(long); i++)
            sum += dest[(size_t)pe * MOST + i];
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./alltoallv
 * PE 0: 0
 * PE 1: 3
 * PE 2: 6 */
