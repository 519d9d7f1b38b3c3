// pes: 1 3
/* rule 4.1: what SHMEM_TEAM_INVALID means to each routine; rule 4.9 to rule 4.11:
 * configurations. */
#include "check.h"

/* rule 15.10: handles can stand in static initialisers. */
static shmem_team_t initialised[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
static shmem_ctx_t contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};

int main(void)
{
    shmem_init();
    int npes = shmem_n_pes();
    static long object;
    shmem_team_t invalid = SHMEM_TEAM_INVALID, team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    CHECK(initialised[0] == invalid && initialised[1] == SHMEM_TEAM_WORLD);
    CHECK_EQ(shmem_team_n_pes(initialised[1]), npes);
    CHECK_EQ(shmem_team_my_pe(invalid), -1);
    CHECK_EQ(shmem_team_n_pes(invalid), -1);
    CHECK_EQ(shmem_team_translate_pe(invalid, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, invalid), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, npes, SHMEM_TEAM_SHARED), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_SHARED), -1);
    CHECK(shmem_team_ptr(invalid, &object, 0) == NULL);
    shmem_team_config_t config = {77};
    CHECK(shmem_team_get_config(invalid, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK_EQ(config.num_contexts, 77);
    CHECK(shmem_team_split_strided(invalid, 0, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == invalid);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(invalid, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == invalid && other == invalid);
    shmem_team_destroy(invalid);
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(invalid, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID && ctx == contexts[0]);

    /* rule 4.11: nothing asked, nothing done */
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL), 0);
    config.num_contexts = 2;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
    config.num_contexts = -5;
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK(config.num_contexts >= 0);
    /* rule 4.10: contexts may be had, or not; the library lives on */
    if (shmem_team_create_ctx(team, 0, &ctx) == 0)
        shmem_ctx_destroy(ctx);
    else
        CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_team_destroy(team);
    /* rule 4.9: fields outside the mask, even a wild value, are not looked at */
    config.num_contexts = -1;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 0, &team), 0);
    shmem_team_destroy(team);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
