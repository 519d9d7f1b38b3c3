// pes: 1 2 3 4 7 8 16
/* shmemx_alltoallvmem and shmemx_alltoallv: blocks of any length, 0 included, between each two PEs of a team
 * and of an active set, several times in a row. */
#include "check.h"
#include <shmemx.h>

enum { MOST = 3000, ROUNDS = 3 }; /* bytes of a block, calls of each kind */

static size_t s_offsets[MAX_PES], s_sizes[MAX_PES];
static long pSync[2][SHMEM_ALLTOALL_SYNC_SIZE];
static char *source, *dest;

static size_t length(int round, int from, int to)
{
    uint64_t mixed = check_mix((uint64_t)(round * 1000 + from * 20 + to));
    return mixed % 3 == 0 ? 0 : mixed % 5 == 0 ? mixed / 15 % MOST : mixed / 15 % 40;
}

static char byte(int round, int from, int to, size_t i)
{
    return (char)check_mix((uint64_t)(round * 1000 + from * 20 + to) << 20 | i);
}

/* An exchange between the members first, first + stride, ... of which this PE is number `me`. */
static void check_exchange(int round, shmem_team_t team, int first, int log_stride, int me, int size)
{
    size_t t_offsets[MAX_PES], t_sizes[MAX_PES];
    /* Blocks lie in reverse, and arrive in order, with a gap. */
    for (int to = 0; to < size; to++) {
        s_offsets[to] = (size_t)(size - 1 - to) * MOST;
        s_sizes[to] = length(round, me, to);
        t_offsets[to] = (size_t)to * (MOST + 1);
        t_sizes[to] = 12345;
        for (size_t i = 0; i < s_sizes[to]; i++)
            source[s_offsets[to] + i] = byte(round, me, to, i);
    }
    memset(dest, 7, MAX_PES * (MOST + 1));
    if (team != SHMEM_TEAM_INVALID)
        CHECK_EQ(shmemx_alltoallvmem(team, dest, t_offsets, t_sizes, source, s_offsets, s_sizes), 0);
    else
        shmemx_alltoallv(dest, t_offsets, t_sizes, source, s_offsets, s_sizes, first, log_stride,
                         size, pSync[round % 2]);
    for (int from = 0; from < size; from++) {
        CHECK_EQ(t_sizes[from], length(round, from, me));
        for (size_t i = 0; i < t_sizes[from]; i++)
            CHECK_EQ(dest[t_offsets[from] + i], byte(round, from, me, i));
        CHECK_EQ(dest[t_offsets[from] + t_sizes[from]], 7);
    }
    /* The next call's dest is written when all have come to it, and no source is read any more. */
}

int main(void)
{
    for (int i = 0; i < SHMEM_ALLTOALL_SYNC_SIZE; i++)
        pSync[0][i] = pSync[1][i] = SHMEM_SYNC_VALUE;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    source = shmem_malloc(MAX_PES * MOST);
    dest = shmem_malloc(MAX_PES * (MOST + 1));
    CHECK(source && dest);
    for (int round = 0; round < ROUNDS; round++) {
        check_exchange(round, SHMEM_TEAM_WORLD, 0, 0, me, npes);
        check_exchange(round + ROUNDS, SHMEM_TEAM_INVALID, 0, 0, me, npes);
    }
    /* Every second PE. */
    shmem_team_t half;
    int size = (npes + 1) / 2;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, size, NULL, 0, &half), 0);
    shmem_barrier_all();
    if (me % 2 == 0)
        for (int round = 0; round < ROUNDS; round++) {
            check_exchange(round, half, 0, 1, me / 2, size);
            check_exchange(round + ROUNDS, SHMEM_TEAM_INVALID, 0, 1, me / 2, size);
        }
    shmem_barrier_all();
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    return 0;
}
