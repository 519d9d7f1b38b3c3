/* PE 0 edits a matrix on PE 1: it copies the first column over the second one, and the upper left quarter over the lower right one. */
#include <shmem.h>
#include <stdio.h>

static int matrix[4][4];

int main(void)
{
    shmem_init();
    for (int i = 0; i < 16; i++)
        matrix[i / 4][i % 4] = i;
    shmem_sync_all();
    if (shmem_my_pe() == 0) {
        int column[4], quarter[4];
        shmem_int_iget(column, &matrix[0][0], 1, 4, 4, 1);
        shmem_int_ibget(quarter, &matrix[0][0], 2, 4, 2, 2, 1);
        shmem_int_iput(&matrix[0][1], column, 4, 1, 4, 1);
        shmem_int_ibput(&matrix[2][2], quarter, 4, 2, 2, 2, 1);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        for (int *row = matrix[0]; row <= matrix[3]; row += 4)
            printf("%2d %2d %2d %2d\n", row[0], row[1], row[2], row[3]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./strided
 *  0  0  2  3
 *  4  4  6  7
 *  8  8  0  1
 * 12 12  4  5 */
