/* What memory of a device cannot be. */
#include "../c/check.h"
#include <shmemx.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    long *block = shmemx_partition_calloc(100, sizeof(long), 1);
    CHECK(block != NULL);
    if (strcmp(what, "lock") == 0)
        shmem_set_lock(block);
    if (strcmp(what, "test-lock") == 0)
        shmem_test_lock(block);
    if (strcmp(what, "clear-lock") == 0)
        shmem_clear_lock(block);
    if (strcmp(what, "signal-fetch") == 0)
        (void)shmem_signal_fetch((uint64_t *)block);
    if (strcmp(what, "psync") == 0)
        shmem_barrier(0, 0, shmem_n_pes(), block);
    if (strcmp(what, "overrun") == 0) {
        static long some[1 << 20];
        shmem_long_put(block, some, 1 << 20, next);
    }
    if (strcmp(what, "load") == 0)
        return (int)*block;
    /* With reach.c the program can, and the library, which writes the configuration there, cannot. */
    if (strcmp(what, "reached") == 0) {
        block[0] = 5;
        CHECK_EQ(shmem_long_g(block, me), 5);
        block[1] = 6;
        memset(block + 2, 7, 16);
        CHECK(block[0] == 5 && block[1] == 6 && *(char *)(block + 3) == 7);
        shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, (void *)block);
    }
    if (strcmp(what, "fork") == 0) {
        shmem_long_p(block, 5, next);
        shmem_barrier_all();
        CHECK_EQ(system("true"), 0);
        CHECK_EQ(shmem_long_g(block, me), 5);
    }
    shmem_finalize();
    return 0;
}
