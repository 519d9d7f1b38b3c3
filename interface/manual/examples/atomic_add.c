/* PEs take work from a common list on PE 0: each index goes to one PE. For its results a PE reserves room in an array. */
#include <shmem.h>
#include <stdio.h>

enum { TASKS = 10 };

static long next, used, sum, done, results[2 * TASKS];

int main(void)
{
    shmem_init();
    long task;
    while ((task = shmem_long_atomic_fetch_inc(&next, 0)) < TASKS) {
        long own[2] = {task, task * task};
        long at = shmem_long_atomic_fetch_add(&used, 2, 0);
        shmem_long_put(&results[at], own, 2, 0);
        shmem_long_atomic_add(&sum, own[1], 0);
        shmem_long_atomic_inc(&done, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld tasks, %ld results, sum %ld\n", done, used, sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./atomic_add
 * 10 tasks, 20 results, sum 285 */
