/* PEs take work from a common list: each index goes to one PE. */
#include <shmem.h>
#include <stdio.h>

static long next, done;

int main(void)
{
    shmem_init();
    enum { TASKS = 100 };
    while (shmem_long_atomic_fetch_inc(&next, 0) < TASKS)
        shmem_long_atomic_add(&done, 1, 0); /* the work */
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld tasks are done\n", done);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./atomic_fetch_inc
 * 100 tasks are done */
