/* PE 0 reads a column of a matrix on PE 1. */
#include <shmem.h>
#include <stdio.h>

static int matrix[3][3];

int main(void)
{
    shmem_init();
    for (int i = 0; i < 9; i++)
        matrix[i / 3][i % 3] = i;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        int column[3];
        shmem_int_iget(column, &matrix[0][1], 1, 3, 3, 1);
        printf("%d %d %d\n", column[0], column[1], column[2]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./iget
 * 1 4 7 */
