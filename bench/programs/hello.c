/* The least that a job can do: every PE says who it is. The driver takes the wall time of the whole job, and
 * counts the greetings. */
#include <stdio.h>
#include <shmem.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), all = shmem_n_pes();
    printf("HELLO %d of %d\n", me, all);
    if (me == 0)
        printf("DONE\n");
    shmem_finalize();
    return 0;
}
