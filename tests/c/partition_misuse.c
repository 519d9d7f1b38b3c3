// What is wrong about a partition, or done wrongly with one, is told.
// pes: 2
// case: kind | status=nonzero env=SHMEM_SYMMETRIC_PARTITION1=2G:KIND=LIBOM stderr=SHMEM_SYMMETRIC_PARTITION1="2G:KIND=LIBOM": stderr=FASTMEM,
// case: size | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=KIND=N stderr=SIZE stderr=missing
// case: twice | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M:POLICY=P:POLICY=M stderr=twice
// case: number | status=nonzero env=SHMEM_SYMMETRIC_PARTITION20=1M stderr=SHMEM_SYMMETRIC_PARTITION20 stderr=SHMEM_MAX_PARTITIONS
// case: zeros | status=nonzero env=SHMEM_SYMMETRIC_PARTITION01=1M stderr=SHMEM_SYMMETRIC_PARTITION01="1M" stderr=without
// case: sum | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=600G env=SHMEM_SYMMETRIC_PARTITION1=600G stderr=1024
// case: node | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M:NODES=1023 stderr=NODES stderr=1023
// case: pages | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=300G:PGSIZE=2M stderr=SHMEM_SYMMETRIC_PARTITION0
// case: different different | status=nonzero stderr=partition stderr=SIZE=2097152 stderr=SIZE=1048576
// case: none-here none | status=nonzero stderr=partition stderr=there
// case: overrun overrun | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M stderr=nelems stderr=partition
// case: outside outside | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M stderr=partition
// case: free free | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M stderr=shmem_free: stderr=partition
// case: give give | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M stderr=shmemx_partition_give: stderr=ptr
// case: order order | status=nonzero env=SHMEM_SYMMETRIC_PARTITION0=1M env=SHMEM_DEBUG=1 stderr=size
// case: take take | env=SHMEM_SYMMETRIC_PARTITION0=1M env=SHMEM_DEBUG=1 stderr=takes stderr=800 stderr=400 stderr=symmetric
// case: absent absent | env=SHMEM_DEBUG=1 stderr=SHMEM_SYMMETRIC_PARTITION5
// case: misspelt absent | env=SHMEM_SYMMETRIC_PARTITIONX=1M stderr=SHMEM_SYMMETRIC_PARTITIONX
#include "check.h"
#include <shmemx.h>
#include <string.h>

static char buffer[4096];

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    // The rank, before there is one.
    int second = getenv("ONESHMEM_PE") != NULL && getenv("ONESHMEM_PE")[0] == '1';
    if (strcmp(what, "different") == 0)
        setenv("SHMEM_SYMMETRIC_PARTITION2", second ? "2M" : "1M", 1);
    if (strcmp(what, "none") == 0 && second)
        setenv("SHMEM_SYMMETRIC_PARTITION2", "1M", 1);
    shmem_init();
    shmem_barrier_all();
    int me = shmem_my_pe();
    shmem_char_p(buffer, 1, 1 - me);
    char *block = shmemx_partition_malloc(1000, strcmp(what, "absent") == 0 ? 5 : 0);
    if (strcmp(what, "absent") == 0) {
        CHECK(block == NULL);
        shmem_finalize();
        return 0;
    }
    char *end = block - (size_t)block % (1 << 20) + (1 << 20);
    if (strcmp(what, "overrun") == 0)
        shmem_putmem(end - 1000, buffer, 2000, 1 - me);
    if (strcmp(what, "outside") == 0)
        shmem_int_p((int *)(end + 4096), 1, 1 - me);
    if (strcmp(what, "free") == 0)
        shmem_free(block + 16);
    if (strcmp(what, "give") == 0)
        shmemx_partition_give(buffer);
    if (strcmp(what, "order") == 0)
        shmemx_partition_malloc(100 + me, 0);
    if (strcmp(what, "take") == 0) {
        if (me == 1)
            CHECK(shmemx_partition_take(800, 0) != NULL);
        CHECK(shmemx_partition_take(400, 0) != NULL);
        CHECK(shmemx_partition_take(400, 0) != NULL);
    }
    shmem_finalize();
    return 0;
}
