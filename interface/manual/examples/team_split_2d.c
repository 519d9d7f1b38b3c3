/* Four PEs in two rows of two. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmem_team_t row, column;
    if (shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row,
                            NULL, 0, &column) != 0)
        shmem_global_exit(1);
    printf("PE %d: x %d of %d, y %d of %d\n", shmem_my_pe(),
           shmem_team_my_pe(row), shmem_team_n_pes(row),
           shmem_team_my_pe(column), shmem_team_n_pes(column));
    shmem_team_destroy(column);
    shmem_team_destroy(row);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 4 ./team_split_2d
 * PE 0: x 0 of 2, y 0 of 2
 * PE 1: x 1 of 2, y 0 of 2
 * PE 2: x 0 of 2, y 1 of 2
 * PE 3: x 1 of 2, y 1 of 2 */
