/* An array grows and keeps its elements. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    long *array = shmem_malloc(2 * sizeof *array);
    if (array == NULL)
        shmem_global_exit(1);
    array[0] = 10;
    array[1] = 11;
    long *larger = shmem_realloc(array, 1000 * sizeof *array);
    if (larger == NULL) {
        fprintf(stderr, "no room; the old array is still there\n");
        shmem_global_exit(1);
    }
    printf("%ld %ld\n", larger[0], larger[1]);
    shmem_free(larger);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./realloc
 * 10 11 */
