/* PE 0 reads the left half of each row of a matrix on PE 1. */
#include <shmem.h>
#include <stdio.h>

static int matrix[2][4];

int main(void)
{
    shmem_init();
    for (int i = 0; i < 8; i++)
        matrix[i / 4][i % 4] = i;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        int half[4];
        shmem_int_ibget(half, &matrix[0][0], 2, 4, 2, 2, 1);
        printf("%d %d %d %d\n", half[0], half[1], half[2], half[3]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./ibget
 * 0 1 4 5 */
