// pes: 2
// variants: pie no-pie static
// inline: no
/* A null pointer as the local operand of a transfer ends the job with a message that says so
 * (rule 0.4). Where the library is a shared one, it names the routine, too, but for copies so large that
 * all routines share the code. */
// case: put-8 put 8 | status=nonzero stderr=null stderr=source
// case: put-64 put 64 | status=nonzero stderr=null stderr=source
// case: put-2k put 2048 | status=nonzero stderr=null stderr=source
// case: put-16m put 16777216 | status=nonzero stderr=null stderr=source
// case: get-8 get 8 | status=nonzero stderr=null stderr=dest
// case: get-2k get 2048 | status=nonzero stderr=null stderr=dest
// case: get-16m get 16777216 | status=nonzero stderr=null stderr=dest
// case: iput iput 8 | status=nonzero stderr=null stderr=source
// case: iget iget 8 | status=nonzero stderr=null stderr=dest
// case: put_signal put_signal 8 | status=nonzero stderr=null stderr=source
// case: fetch_nbi fetch_nbi 8 | status=nonzero stderr=null stderr=dest
#include "check.h"

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *what = argv[1];
    size_t bytes = (size_t)atol(argv[2]);
    shmem_init();
    int to = !shmem_my_pe();
    char *block = shmem_malloc(bytes);
    static uint64_t sig;
    void *volatile null = NULL;
#define IS(name) (strcmp(what, name) == 0)
    shmem_putmem(block, &to, 4, to); /* The fault is not in attaching the peer. */
    if (IS("put")) shmem_putmem(block, null, bytes, to);
    if (IS("get")) shmem_getmem(null, block, bytes, to);
    if (IS("iput")) shmem_long_iput((long *)block, null, 1, 1, 1, to);
    if (IS("iget")) shmem_long_iget(null, (long *)block, 1, 1, 1, to);
    if (IS("put_signal"))
        shmem_putmem_signal(block, null, bytes, &sig, 1, SHMEM_SIGNAL_ADD, to);
    if (IS("fetch_nbi")) shmem_long_atomic_fetch_nbi(null, (long *)block, to);
    shmem_barrier_all(); /* not reached */
    shmem_finalize();
    return 0;
}
