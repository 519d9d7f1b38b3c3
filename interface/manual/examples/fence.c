/* An array and a flag that says it is there: the fence orders the two. */
#include <shmem.h>
#include <stdio.h>

static int data[2], flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        int source[2] = {3, 4};
        shmem_int_put(data, source, 2, 1);
        shmem_fence();
        shmem_int_atomic_set(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d %d\n", data[0], data[1]);
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./fence
 * 3 4 */
