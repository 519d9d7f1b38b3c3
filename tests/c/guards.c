// pes: 2
// partition: no
// env: SHMEM_DEBUG=1 SHMEM_SYMMETRIC_PARTITION1=SIZE=8m
// case: clean clean |
// case: own own | status=nonzero stderr=shmem_barrier_all: stderr=byte stderr=overwritten stderr=100
// case: put put | status=nonzero stderr=shmem_barrier_all: stderr=byte stderr=overwritten stderr=100
// case: free free | status=nonzero stderr=shmem_free: stderr=byte stderr=overwritten stderr=100
// case: realloc realloc | status=nonzero stderr=shmem_barrier_all: stderr=byte stderr=overwritten stderr=200
// case: moved moved | status=nonzero stderr=shmem_barrier_all: stderr=byte stderr=overwritten stderr=50000
// case: many many | status=nonzero stderr=shmem_finalize: stderr=byte stderr=overwritten stderr=100
// case: free-many many free | status=nonzero stderr=shmem_free: stderr=byte stderr=overwritten stderr=100
// case: partition partition | status=nonzero stderr=shmem_barrier_all: stderr=byte stderr=overwritten stderr=100
/* Under SHMEM_DEBUG a write past the end of a block is found, whichever PE made it: among few blocks at the next
 * barrier, among many when the block is freed or at the end. */
#include "check.h"
#include <shmemx.h>
#include <string.h>

#define IS(name) (strcmp(what, name) == 0)

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    char *block = (char *)(IS("partition") ? shmemx_partition_malloc(100, 1) : shmem_malloc(100));
    char *next = (char *)shmem_calloc(10, 10);
    CHECK(block != NULL && next != NULL);
    if (me == 0) { /* no action, so one PE may do it */
        shmem_free(NULL);
        CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL && shmem_align(64, 0) == NULL);
        CHECK(shmem_malloc_with_hints(0, 0) == NULL);
    }
    if (IS("realloc"))
        block = (char *)shmem_realloc(block, 200);
    if (IS("moved"))
        block = (char *)shmem_realloc(block, 50000);
    size_t size = IS("realloc") ? 200 : IS("moved") ? 50000 : 100;
    for (size_t i = 0; i < size; i++)
        block[i] = 1;
    for (int i = 0; i < 100; i++)
        CHECK_EQ(next[i], 0);
    memset(next, 2, 100);
    if (IS("many")) {
        enum { MANY = 2000 };
        static char *blocks[MANY];
        for (int i = 0; i < MANY; i++)
            CHECK((blocks[i] = (char *)shmem_malloc(100)) != NULL);
        shmem_barrier_all();
        blocks[MANY / 2][100] = 1;
        if (argc > 2)
            shmem_free(blocks[MANY / 2]);
        shmem_finalize();
        return 0;
    }
    shmem_barrier_all();
    if (IS("put") && me == 0)
        shmem_putmem(block + 98, next, 4, 1);
    else if (!IS("clean") && !IS("put") && me == 1)
        block[size + 2] = 3;
    if (!IS("free"))
        shmem_barrier_all();
    shmem_free(block);
    shmem_free(next);
    shmem_finalize();
    return 0;
}
