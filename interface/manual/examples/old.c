/* An old program, from the time of caches without coherence: the cache routines do nothing. It ends without a call, as the library ends by itself. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void)
{
    start_pes(0);
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&word);
    if (_my_pe() == 0) {
        shmem_long_atomic_set(&word, 5, 1);
    } else {
        shmem_long_wait(&word, 0);
        shmem_udcflush();
        shmem_udcflush_line(&word);
        printf("PE %d of %d: %ld\n", _my_pe(), _num_pes(), word);
    }
    shmem_clear_cache_line_inv(&word);
    shmem_clear_cache_inv();
    return 0;
}

/* $ oshrun -n 2 ./old
 * PE 1 of 2: 5 */
