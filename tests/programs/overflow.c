/* Writes past a static array after initialisation, which AddressSanitizer has to notice: moving
 * the data segment leaves its red zones as they are. */
#include <shmem.h>

static int first[5], second[5];

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    first[argc] = second[argc] = 1;
    shmem_barrier_all();
    volatile int *past = first;
    past[4 + argc] = 1;
    shmem_finalize();
    return 0;
}
