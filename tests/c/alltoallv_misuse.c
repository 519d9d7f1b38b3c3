// pes: 2
/* Wrong arguments of shmemx_alltoallvmem and shmemx_alltoallv end the job with a message. */
#include "check.h"
#include <shmemx.h>

static char dest[64], source[64];
static size_t t_offsets[MAX_PES], t_sizes[MAX_PES], s_offsets[MAX_PES], s_sizes[MAX_PES];
static long pSync[SHMEM_ALLTOALL_SYNC_SIZE];

static void exchange(void *to, size_t *got, const void *from, const size_t *sizes)
{
    shmemx_alltoallvmem(SHMEM_TEAM_WORLD, to, t_offsets, got, from, s_offsets, sizes);
}

int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < SHMEM_ALLTOALL_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_init();
    int npes = shmem_n_pes();
    size_t on_stack[MAX_PES] = {8, 8};
    for (int pe = 0; pe < npes; pe++)
        s_sizes[pe] = 8, t_offsets[pe] = 8 * (size_t)pe;
    shmem_barrier_all();
    FAILS("source", "shmemx_alltoallvmem: source stack")
        exchange(dest, t_sizes, on_stack, s_sizes);
    FAILS("dest", "shmemx_alltoallvmem: dest stack")
        exchange(on_stack, t_sizes, source, s_sizes);
    FAILS("table", "shmemx_alltoallvmem: s_sizes stack")
        exchange(dest, t_sizes, source, on_stack);
    FAILS("null", "shmemx_alltoallvmem: t_sizes NULL")
        exchange(dest, NULL, source, s_sizes);
    FAILS("negative", "shmemx_alltoallvmem: s_sizes 18446744073709551615 past") {
        s_sizes[0] = (size_t)-1;
        exchange(dest, t_sizes, source, s_sizes);
    }
    FAILS("before", "shmemx_alltoallvmem: s_sizes addresses source") {
        s_offsets[1] = (size_t)-8;
        exchange(dest, t_sizes, source, s_sizes);
    }
    FAILS("behind", "shmemx_alltoallvmem: t_sizes dest past") {
        t_offsets[0] = (size_t)1 << 40;
        exchange(dest, t_sizes, source, s_sizes);
    }
    FAILS("set", "shmemx_alltoallv: PE_size -1")
        shmemx_alltoallv(dest, t_offsets, t_sizes, source, s_offsets, s_sizes, 0, 0, -1, pSync);
    shmem_finalize();
    return 0;
}
