/* The sum of four numbers that depends on the order in which they are added: so it shows which
 * algorithm a reduction runs. In the order of the PEs it is 1, by pairs 0.
 *
 *   sum_order            prints the sum
 *   sum_order FOLDER     the PE that is the first to make the folder asks for another
 *                        algorithm than the others */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const double numbers[] = {1e16, 1, -1e16, 1};
static double mine, sum;

int main(int argc, char **argv)
{
    if (argc > 1 && mkdir(argv[1], 0700) == 0)
        setenv("SHMEM_REDUCE_ALGORITHM", "linear", 1);
    shmem_init();
    mine = numbers[shmem_my_pe() % 4];
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
    if (shmem_my_pe() == 0)
        printf("sum %g\n", sum);
    shmem_finalize();
    return 0;
}
