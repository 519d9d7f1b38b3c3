/* PE 0 deals out an array, and collects what the PEs have made of their parts. In C11 the type can be left out of a name, as in the second case. */
#include <shmem.h>
#include <stdio.h>

static long part[2];

int main(void)
{
    long all[6] = {1, 2, 3, 4, 5, 6};
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0)
        for (int pe = 0; pe < npes; pe++)
            shmem_long_put(part, &all[2 * pe], 2, pe);
    shmem_barrier_all(); /* all PEs have their parts */
    part[0] *= 10;
    part[1] *= 10;
    shmem_sync_all(); /* all parts are ready */
    if (me == 0) {
        for (int pe = 0; pe < npes; pe++)
            shmem_get(&all[2 * pe], part, 2, pe);
        printf("%ld %ld ... %ld\n", all[0], all[1], all[5]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./put
 * 10 20 ... 60 */
