// pes: 2
/* rule 15.10: handles are macros, and symbols of the same names for languages that read no macros. */
#include "check.h"

static const shmem_team_t teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
static const shmem_ctx_t contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};

#undef SHMEM_TEAM_INVALID
#undef SHMEM_TEAM_WORLD
#undef SHMEM_TEAM_SHARED
#undef SHMEM_CTX_INVALID
#undef SHMEM_CTX_DEFAULT

static long here;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(SHMEM_TEAM_INVALID == teams[0]);
    CHECK(SHMEM_TEAM_WORLD == teams[1]);
    CHECK(SHMEM_TEAM_SHARED == teams[2]);
    CHECK(SHMEM_CTX_INVALID == contexts[0]);
    CHECK(SHMEM_CTX_DEFAULT == contexts[1]);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
    shmem_ctx_long_p(SHMEM_CTX_DEFAULT, &here, me + 1, (me + 1) % npes);
    shmem_team_sync(SHMEM_TEAM_WORLD);
    CHECK_EQ(here, (me + npes - 1) % npes + 1);
    shmem_finalize();
    return 0;
}
