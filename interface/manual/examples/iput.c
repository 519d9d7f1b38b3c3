/* PE 0 writes its row into a column of a matrix on PE 1. */
#include <shmem.h>
#include <stdio.h>

static int matrix[3][3];

int main(void)
{
    int row[3] = {7, 8, 9};
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_int_iput(&matrix[0][1], row, 3, 1, 3, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        for (int i = 0; i < 3; i++)
            printf("row %d: %d %d %d\n", i, matrix[i][0], matrix[i][1],
                   matrix[i][2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./iput
 * row 0: 0 7 0
 * row 1: 0 8 0
 * row 2: 0 9 0 */
