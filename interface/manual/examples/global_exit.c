/* PE 1 finds a mistake and ends the job, although PE 0 waits for it. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1) {
        printf("PE 1 ends the job\n");
        shmem_global_exit(3);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./global_exit; echo status $?
 * PE 1 ends the job
 * status 3 */
