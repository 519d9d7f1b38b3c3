// pes: 2 3
// env: SHMEM_DEBUG=1
// case: triplet triplet | stderr=shmem_team_split_strided stderr=fails: stderr=size
// case: mask mask | stderr=shmem_team_split_strided stderr=fails: stderr=config_mask
// case: contexts contexts | stderr=shmem_team_split_strided stderr=fails: stderr=num_contexts
// case: range range | stderr=shmem_team_split_2d stderr=fails: stderr=xrange
// case: many many | stderr=shmem_team_split_strided stderr=fails: stderr=teams
/* Under SHMEM_DEBUG a split that fails says why. */
#include "check.h"
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_init();
    int npes = shmem_n_pes(), failed = 0;
    shmem_team_t team = SHMEM_TEAM_INVALID, other = SHMEM_TEAM_INVALID;
    shmem_team_config_t config = {-1};
    if (strcmp(what, "triplet") == 0)
        failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes, NULL, 0, &team);
    else if (strcmp(what, "mask") == 0)
        failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 64, &team);
    else if (strcmp(what, "contexts") == 0)
        failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                          SHMEM_TEAM_NUM_CONTEXTS, &team);
    else if (strcmp(what, "range") == 0)
        failed = shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &other);
    else
        while (!failed)
            failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
    CHECK(failed != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    shmem_finalize();
    return 0;
}
