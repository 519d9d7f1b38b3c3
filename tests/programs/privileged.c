/* privileged: installed with the set-user-ID bit of another user. Whatever the environment
 * says, it is a job of one PE with the library's defaults. Status 77: the file system or the
 * kernel does not give the rights. */
#include <shmem.h>
#include <stdio.h>
#include <sys/auxv.h>

static long mine = 1;

int main(void)
{
    if (!getauxval(AT_SECURE))
        return 77;
    shmem_init();
    shmem_long_p(&mine, 2, 0);
    long sum = 0;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &mine, &mine, 1);
    sum = shmem_long_g(&mine, 0);
    void *block = shmem_malloc(1 << 20);
    printf("PE %d of %d, sum %ld, heap %s\n", shmem_my_pe(), shmem_n_pes(), sum,
           block ? "as ever" : "too small");
    shmem_finalize();
    return 0;
}
