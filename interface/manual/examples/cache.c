/* A program from the time of caches without coherence. None of these calls does anything. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void)
{
    shmem_init();
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&word);
    shmem_long_p(&word, 5, 0);
    shmem_barrier_all();
    shmem_udcflush();
    shmem_udcflush_line(&word);
    shmem_clear_cache_line_inv(&word);
    shmem_clear_cache_inv();
    printf("%ld\n", shmem_long_g(&word, 0));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./cache
 * 5 */
