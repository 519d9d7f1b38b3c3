// pes: 1 2 4
// case: silent
// case: told | env=SHMEM_DEBUG=1 stderr=alignment stderr=63 stderr=finalised
/* What the specification leaves undefined and other implementations let pass: an alignment
 * that cannot be gives null on all PEs (rule 3.6), and the end may come once too often
 * (rule 1.4), also in an exit handler. */
#include "check.h"

static void at_exit(void)
{
    shmem_finalize();
}

int main(void)
{
    atexit(at_exit);
    shmem_init();
    for (size_t bad = 0; bad < 100; bad = bad ? 2 * bad + 1 : 3)
        CHECK(shmem_align(bad, 100) == NULL);
    CHECK(shmem_align(24, 100) == NULL);
    CHECK(shmem_align(SIZE_MAX, 100) == NULL);
    long *block = shmem_align(sizeof *block, sizeof *block);
    CHECK(block != NULL);
    shmem_free(block);
    shmem_finalize();
    shmem_finalize();
    CHECK_EQ(check_initialized(), 0);
    shmem_init(); /* still possible */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
