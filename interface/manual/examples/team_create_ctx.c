/* With the context of a team, PE numbers are those of the team. */
#include <shmem.h>
#include <stdio.h>

static int from = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_team_config_t config = {.num_contexts = 1};
    shmem_team_t reverse, same;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes,
                             &config, SHMEM_TEAM_NUM_CONTEXTS, &reverse);
    if (shmem_team_create_ctx(reverse, 0, &ctx) != 0)
        shmem_global_exit(1);
    if (shmem_ctx_get_team(ctx, &same) != 0 || same != reverse)
        shmem_global_exit(1);
    shmem_ctx_int_p(ctx, &from, me, me);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(reverse);
    printf("PE %d: %d\n", me, from);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(reverse);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./team_create_ctx
 * PE 0: 2
 * PE 1: 1
 * PE 2: 0 */
