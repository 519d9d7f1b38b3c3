// pes: 1 2 3 4 7 8
/* Contexts of world and of teams, their options, teams and numbering; sessions. */
#include "check.h"

static int me, npes;
static long words[MAX_PES];

/* Each operation family through a context of a team that counts PEs its own way. */
static void team_relative(shmem_team_t team, shmem_ctx_t ctx)
{
    static uint64_t sig;
    static int block[8];
    int n = shmem_team_n_pes(team), tme = shmem_team_my_pe(team), to = (tme + 1) % n;
    int from = (tme + n - 1) % n;
    sig = 0;
    words[0] = words[1] = 0;
    shmem_barrier_all();
    int out[4] = {tme, tme + 1, tme + 2, tme + 3};
    /* rule 5.2, rule 0.3: PE numbers are the team's */
    shmem_ctx_long_p(ctx, &words[0], 100 + tme, to);
    shmem_ctx_long_atomic_add(ctx, &words[1], 200 + tme, to);
    shmem_ctx_int_put_signal(ctx, block, out, 4, &sig, 1, SHMEM_SIGNAL_ADD, to);
    shmem_ctx_int_iput(ctx, &block[4], out, 2, 2, 2, to);
    shmem_ctx_signal_add(ctx, &sig, 1, to);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK_EQ(words[0], 100 + from);
    CHECK_EQ(words[1], 200 + from);
    CHECK_EQ(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 2), 2);
    CHECK_EQ(block[3], from + 3);
    CHECK_EQ(block[6], from + 2);
    CHECK_EQ(shmem_ctx_long_g(ctx, &words[0], to), 100 + tme);
    CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &words[1], to), 200 + tme);
    shmem_ctx_pe_quiet(ctx, &to, 1); /* rule 12.3 */
    shmem_barrier_all();
}

static void options(void)
{
    /* rule 5.3, rule 5.4: any combination */
    const long flags[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    for (int mask = 0; mask < 8; mask++) {
        long option = 0;
        for (int f = 0; f < 3; f++)
            option |= mask >> f & 1 ? flags[f] : 0;
        shmem_ctx_t ctx;
        if (shmem_ctx_create(option, &ctx) != 0) { /* rule 5.1: may fail, and says so */
            CHECK(ctx == SHMEM_CTX_INVALID);
            continue;
        }
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        team_relative(SHMEM_TEAM_WORLD, ctx);
        shmem_team_t team = SHMEM_TEAM_INVALID; /* rule 5.7 */
        CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
        CHECK(team == SHMEM_TEAM_WORLD);
        shmem_ctx_destroy(ctx);
    }
}

/* rule 5.5: destroy completes what was issued on the context */
static void destroy_quiets(void)
{
    static long dest, *source;
    source = &words[2];
    words[2] = me + 5;
    shmem_barrier_all();
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    shmem_ctx_long_put_nbi(ctx, &dest, source, 1, (me + 1) % npes);
    shmem_ctx_destroy(ctx);
    shmem_sync_all();
    CHECK_EQ(dest, (me + npes - 1) % npes + 5);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
}

static void sessions(void)
{
    /* rule 9.1 to rule 9.5: hints that change nothing */
    static long dest[4];
    long out[4] = {1, 2, 3, me};
    shmem_ctx_session_config_t config = {100};
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config,
                            SHMEM_CTX_SESSION_TOTAL_OPS); /* rule 9.2: a second start adds */
    shmem_long_put_nbi(dest, out, 4, (me + 1) % npes);
    shmem_fence();
    shmem_quiet();
    shmem_sync_all();
    CHECK_EQ(dest[3], (me + npes - 1) % npes);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT); /* rule 9.4: none is active */
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID); /* rule 5.6 */
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    shmem_team_t team;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);

    team_relative(SHMEM_TEAM_WORLD, SHMEM_CTX_DEFAULT);
    options();
    destroy_quiets();
    sessions();

    shmem_team_config_t config = {4};
    shmem_team_t back;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &back), 0);
    for (int again = 0; again < 50; again++) { /* and their room comes back */
        shmem_ctx_t ctx[4];
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(shmem_team_create_ctx(back, 0, &ctx[i]), 0);
            CHECK_EQ(shmem_ctx_get_team(ctx[i], &team), 0);
            CHECK(team == back);
        }
        if (again % 25 == 0)
            for (int i = 0; i < 4; i++)
                team_relative(back, ctx[i]);
        for (int i = 0; i < 4; i++)
            shmem_ctx_destroy(ctx[i]);
    }
    shmem_team_destroy(back);

    /* rule 5.1: when there are no more, it says so, and goes on working */
    static shmem_ctx_t many[100000];
    int count = 0;
    while (count < 100000 && shmem_ctx_create(0, &many[count]) == 0)
        count++;
    CHECK(count >= 16);
    if (count < 100000)
        CHECK(many[count] == SHMEM_CTX_INVALID);
    team_relative(SHMEM_TEAM_WORLD, many[count - 1]);
    for (int i = 0; i < count; i++)
        shmem_ctx_destroy(many[i]);
    shmem_ctx_t one;
    CHECK_EQ(shmem_ctx_create(0, &one), 0);
    shmem_barrier_all();
    shmem_finalize(); /* rule 1.4: takes the shareable context with it */
    return 0;
}
