// pes: 1 2
// partition: no
/* rule 3.12, rule 16.1, rule 16.2: the environment sets the heap's size, SHMEM_ wins
 * over SMA_, and a value that cannot be is an error at start. */
// case: plain 20971520 | env=SHMEM_SYMMETRIC_SIZE=20m
// case: bytes 1048576 | env=SHMEM_SYMMETRIC_SIZE=1048576
// case: fraction 3250586 | env=SHMEM_SYMMETRIC_SIZE=3.1M
// case: no-leading-digit 524288 | env=SHMEM_SYMMETRIC_SIZE=.5m
// case: further-letters 2097152 | env=SHMEM_SYMMETRIC_SIZE=2mk
// case: old-name 3145728 | env=SMA_SYMMETRIC_SIZE=3m
// case: both 2097152 | env=SHMEM_SYMMETRIC_SIZE=2m env=SMA_SYMMETRIC_SIZE=1x
// case: none 0 | env=SHMEM_SYMMETRIC_SIZE=0
// case: garbage 1 | env=SHMEM_SYMMETRIC_SIZE=lots status=nonzero stderr=SHMEM_SYMMETRIC_SIZE
// case: negative 1 | env=SHMEM_SYMMETRIC_SIZE=-1 status=nonzero stderr=SHMEM_SYMMETRIC_SIZE
// case: unknown-suffix 1 | env=SHMEM_SYMMETRIC_SIZE=5q status=nonzero stderr=SHMEM_SYMMETRIC_SIZE
// case: impossible 1 | env=SHMEM_SYMMETRIC_SIZE=4000000t status=nonzero stderr=SHMEM_SYMMETRIC_SIZE
// case: by-default 67108864
#include "check.h"

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    size_t size = strtoull(argv[1], NULL, 10);
    int provided;
    /* A nonzero result is as good as ending the program. */
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0)
        return 1;
    if (size > 0) {
        char *whole = shmem_malloc(size / 16 * 15);
        CHECK(whole != NULL);
        whole[size / 16 * 15 - 1] = 'x';
        int to = (shmem_my_pe() + 1) % shmem_n_pes();
        shmem_char_p(whole, 'y', to);
        shmem_barrier_all();
        CHECK_EQ(whole[0], 'y');
    }
    /* A cap: what exceeds it by far is not there. */
    if (getenv("SHMEM_SYMMETRIC_SIZE"))
        CHECK(shmem_malloc(size * 2 + (64 << 20)) == NULL);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
