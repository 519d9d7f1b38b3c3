// pes: 1 2 4
/* Teams and contexts that are made and destroyed again and again leave no memory in use, wherever their
 * members are. (Pages of the library's own tables that are touched for the first time are not counted.) */
#include "check.h"
#include <malloc.h>

enum { CYCLES = 150, TURNS = 3, SLACK = 4096 };

static void cycles(int count)
{
    for (int i = 0; i < count; i++) {
        shmem_team_t team;
        shmem_ctx_t ctx;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team) == 0);
        CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0);
        shmem_ctx_destroy(ctx);
        shmem_team_sync(team);
        shmem_team_destroy(team);
    }
}

int main(void)
{
    shmem_init();
    cycles(CYCLES);
    /* What the library or libc allocates once may be allocated at any time, but grows in one turn only. */
    size_t growth = SIZE_MAX;
    for (int turn = 0; turn < TURNS; turn++) {
        size_t before = mallinfo2().uordblks;
        cycles(CYCLES);
        size_t after = mallinfo2().uordblks;
        size_t more = after > before ? after - before : 0;
        if (more > SLACK)
            fprintf(stderr, "PE %d: %zu bytes in use, then %zu\n", shmem_my_pe(), before, after);
        if (more < growth)
            growth = more;
    }
    CHECK(growth <= SLACK);
    shmem_finalize();
    return 0;
}
