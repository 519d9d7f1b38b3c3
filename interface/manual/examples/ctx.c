/* Operations of two kinds are completed separately: a thousand additions, announced by a session, and a put on the context of a team, which counts all PEs in reverse order. */
#include <shmem.h>
#include <stdio.h>

static int sum, from = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_team_config_t config = {.num_contexts = 1};
    shmem_team_t reverse, same;
    shmem_ctx_t own, of_team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes,
                             &config, SHMEM_TEAM_NUM_CONTEXTS, &reverse);
    shmem_team_get_config(reverse, SHMEM_TEAM_NUM_CONTEXTS, &config);
    if (config.num_contexts < 1
        || shmem_team_create_ctx(reverse, 0, &of_team) != 0
        || shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) != 0
        || shmem_ctx_get_team(of_team, &same) != 0 || same != reverse)
        shmem_global_exit(1);
    shmem_ctx_session_config_t session = {.total_ops = 1000};
    shmem_ctx_session_start(own, SHMEM_CTX_SESSION_BATCH, &session,
                            SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < 1000; i++)
        shmem_ctx_int_atomic_inc(own, &sum, 0);
    shmem_ctx_session_stop(own);
    shmem_ctx_int_p(of_team, &from, me, me);
    shmem_ctx_quiet(of_team); /* completes the put */
    shmem_ctx_quiet(own);     /* completes the sum */
    shmem_sync_all();
    printf("PE %d: from PE %d, sum %d\n", me, from, sum);
    shmem_ctx_destroy(own);
    shmem_ctx_destroy(of_team);
    shmem_team_destroy(reverse);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./ctx
 * PE 0: from PE 2, sum 3000
 * PE 1: from PE 1, sum 0
 * PE 2: from PE 0, sum 0 */
