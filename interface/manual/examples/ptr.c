/* PE 0 writes the variable of PE 1 by plain stores, or by a put if PE 1 is on another node. */
#include <shmem.h>
#include <stdio.h>

static long numbers[3];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        long *theirs = shmem_ptr(numbers, 1);
        for (int i = 0; i < 3; i++) {
            if (theirs != NULL)
                theirs[i] = i * i;
            else
                shmem_long_p(&numbers[i], i * i, 1);
        }
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("%ld %ld %ld\n", numbers[0], numbers[1], numbers[2]);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./ptr
 * 0 1 4 */
