// pes: 2 4
// env: SHMEM_DEBUG=1
/* Under SHMEM_DEBUG, collective calls that do not match are told, with both sides; without it
 * they hang, or worse. Calls that match stay what they are. */
// case: routines routines | status=1 stderr=shmem_barrier_all stderr=shmem_int_sum_reduce
// case: finalize finalize | status=1 stderr=shmem_barrier_all stderr=shmem_finalize
// case: split split | status=1 stderr=shmem_team_split_strided stderr=shmem_sync_all
// case: types types | status=1 stderr=shmem_int_broadcast stderr=shmem_float_broadcast
// case: operations operations | status=1 stderr=shmem_int_sum_reduce stderr=shmem_int_max_reduce
// case: root root | status=1 stderr=PE_root
// case: sizes sizes | status=1 stderr=nelems stderr=shmem_int_fcollect
// case: nothing nothing | status=1 stderr=nreduce
// case: strides strides | status=1 stderr=dst
// case: allocation allocation | status=1 stderr=shmem_malloc stderr=shmem_barrier_all
// case: on-a-team team | status=1 stderr=PE_root
// case: right right
#include "check.h"

static int source[64], dest[64 * MAX_PES];
static float fsource[64], fdest[64];

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *how = argv[1];
    shmem_init();
    int npes = shmem_n_pes(), odd = shmem_my_pe() == npes - 1;
    const shmem_team_t world = SHMEM_TEAM_WORLD;
    shmem_team_t team;
#define IS(name) (strcmp(how, name) == 0)
    shmem_barrier_all();
    if (IS("routines")) {
        if (odd) shmem_barrier_all();
        else shmem_int_sum_reduce(world, dest, source, 4);
    }
    if (IS("finalize") && !odd) shmem_barrier_all();
    if (IS("split")) {
        if (odd) shmem_sync_all();
        else shmem_team_split_strided(world, 0, 1, npes, NULL, 0, &team);
    }
    if (IS("types")) {
        if (odd) shmem_float_broadcast(world, fdest, fsource, 4, 0);
        else shmem_int_broadcast(world, dest, source, 4, 0);
    }
    if (IS("operations")) {
        if (odd) shmem_int_max_reduce(world, dest, source, 4);
        else shmem_int_sum_reduce(world, dest, source, 4);
    }
    if (IS("root")) shmem_int_broadcast(world, dest, source, 4, odd);
    if (IS("sizes")) shmem_int_fcollect(world, dest, source, odd ? 4 : 8);
    if (IS("nothing")) shmem_int_sum_reduce(world, dest, source, odd ? 0 : 1);
    if (IS("strides")) shmem_int_alltoalls(world, dest, source, odd ? 1 : 2, 1, 2);
    if (IS("allocation")) {
        if (odd) shmem_barrier_all();
        else CHECK((shmem_malloc)(8) != NULL);
    }
    if (IS("team")) {
        CHECK(shmem_team_split_strided(world, npes - 1, -1, npes, NULL, 0, &team) == 0);
        shmem_int_broadcast(team, dest, source, 4, odd);
    }
    if (IS("right")) {
        CHECK(shmem_team_split_strided(world, 0, 1, npes, NULL, 0, &team) == 0);
        shmem_int_broadcast(team, dest, source, 0, 0);
        shmem_int_collect(team, dest, source, odd ? 3 : 0);
        shmem_int_alltoalls(world, dest, source, 2, 1, 0);
        shmem_int_sum_reduce(world, dest, source, 3);
        shmem_free(shmem_malloc(8));
        shmem_team_destroy(team);
    }
    if (!IS("finalize") && !IS("right")) CHECK(!"this goes on");
    shmem_finalize();
    return 0;
}
