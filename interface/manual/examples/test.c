/* PE 1 works until a message comes. */
#include <shmem.h>
#include <stdio.h>

static int flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_atomic_set(&flag, 1, 1);
    } else {
        while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1))
            ; /* something else is done here */
        printf("the message is there\n");
    }
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./test
 * the message is there */
