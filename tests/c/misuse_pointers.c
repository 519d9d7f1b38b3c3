// pes: 2
// variants: pie static
/* Null pointers and handles that are none are told by routine and argument: rule 0.4. */
// case: nothing nothing
#include "check.h"

static long data[64], one = 1;
static uint64_t sig;

/* What a stray handle may be: a small number, addresses, all bits. */
static uintptr_t garbage(int which)
{
    static const char constant[] = "a constant";
    switch (which) {
    case 0: return 1;
    case 1: return 0x7fffdeadbee0;
    case 2: return (uintptr_t)data;
    case 3: return (uintptr_t)constant | 1;
    case 4: return UINTPTR_MAX;
    case 5: return 0xbad00000000000;
    default: return 4096 * 16 + 3;
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *what = argv[1];
#define IS(name) (strcmp(what, name) == 0)
    FAILS("provided", "shmem_init_thread provided") shmem_init_thread(SHMEM_THREAD_SINGLE, NULL);
    shmem_init();
    int number, to = !shmem_my_pe();
    long here = 1;
    size_t index;
    shmem_team_t team;
    shmem_team_config_t config;
    int choice = (int)(check_seed() % 7);
    shmem_ctx_t ctx = (shmem_ctx_t)garbage(choice);
    shmem_team_t no_team = (shmem_team_t)garbage(choice == 0 ? 6 : choice);
    FAILS("query_thread", "shmem_query_thread provided") shmem_query_thread(NULL);
    FAILS("query_initialized", "shmem_query_initialized") shmem_query_initialized(NULL);
    FAILS("version", "shmem_info_get_version minor") shmem_info_get_version(&number, NULL);
    FAILS("name", "shmem_info_get_name name") shmem_info_get_name(NULL);
    FAILS("ctx_create", "shmem_ctx_create ctx") shmem_ctx_create(0, NULL);
    FAILS("ctx_get_team", "shmem_ctx_get_team team") shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL);
    FAILS("split_strided", "shmem_team_split_strided new_team") shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL);
    FAILS("split_2d", "shmem_team_split_2d yaxis_team")
        shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, NULL);
    FAILS("get_config", "shmem_team_get_config config") shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, NULL);
    FAILS("indices", "shmem_long_wait_until_some indices") shmem_long_wait_until_some(data, 4, NULL, NULL, SHMEM_CMP_EQ, 0);
    FAILS("cmp_values", "shmem_long_test_all_vector cmp_values") shmem_long_test_all_vector(data, 4, NULL, SHMEM_CMP_EQ, NULL);
    FAILS("pe_quiet", "shmem_pe_quiet target_pes") shmem_pe_quiet(NULL, 1);
    FAILS("psync-private", "shmem_sync: pSync") shmem_sync(0, 0, 2, &here);
    FAILS("psync-unaligned", "shmem_barrier: pSync") shmem_barrier(0, 0, 2, (long *)((char *)data + 4));
    FAILS("psync-null", "shmem_broadcast64: pSync") shmem_broadcast64(data, data + 8, 1, 0, 0, 0, 2, NULL);
    FAILS("garbage-ctx-p", "shmem_ctx_long_p ctx") shmem_ctx_long_p(ctx, data, 1, to);
    FAILS("garbage-ctx-g", "shmem_ctx_long_g ctx") here = shmem_ctx_long_g(ctx, data, to);
    FAILS("garbage-ctx-put", "shmem_ctx_putmem ctx") shmem_ctx_putmem(ctx, data, &here, 8, 0);
    FAILS("garbage-ctx-iput", "shmem_ctx_long_iput ctx") shmem_ctx_long_iput(ctx, data, &here, 1, 1, 1, 0);
    FAILS("garbage-ctx-add", "shmem_ctx_long_atomic_add ctx") shmem_ctx_long_atomic_add(ctx, data, 1, to);
    FAILS("garbage-ctx-signal", "shmem_ctx_putmem_signal ctx")
        shmem_ctx_putmem_signal(ctx, data, &here, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);
    FAILS("garbage-ctx-quiet", "shmem_ctx_quiet ctx") shmem_ctx_quiet(ctx);
    FAILS("garbage-ctx-fence", "shmem_ctx_fence ctx") shmem_ctx_fence(ctx);
    FAILS("garbage-ctx-pe_quiet", "shmem_ctx_pe_quiet ctx") shmem_ctx_pe_quiet(ctx, &to, 1);
    FAILS("garbage-ctx-destroy", "shmem_ctx_destroy ctx") shmem_ctx_destroy(ctx);
    FAILS("garbage-ctx-team", "shmem_ctx_get_team ctx") shmem_ctx_get_team(ctx, &team);
    FAILS("garbage-ctx-session", "shmem_ctx_session_start ctx") shmem_ctx_session_start(ctx, 0, NULL, 0);
    FAILS("garbage-team-pe", "shmem_team_my_pe team") shmem_team_my_pe(no_team);
    FAILS("garbage-team-sync", "shmem_team_sync team") shmem_team_sync(no_team);
    FAILS("garbage-team-ptr", "shmem_team_ptr team") CHECK(shmem_team_ptr(no_team, data, 0) != data);
    FAILS("garbage-team-split", "shmem_team_split_strided team") shmem_team_split_strided(no_team, 0, 1, 1, NULL, 0, &team);
    FAILS("garbage-team-reduce", "shmem_long_sum_reduce team") shmem_long_sum_reduce(no_team, data, &one, 1);
    FAILS("garbage-team-ctx", "shmem_team_create_ctx team") shmem_team_create_ctx(no_team, 0, &ctx);
    FAILS("destroyed-team", "shmem_team_n_pes team") {
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team), 0);
        shmem_team_destroy(team);
        shmem_team_n_pes(team);
    }
    if (IS("nothing")) { /* No elements, no pointers needed. */
        shmem_long_put(NULL, NULL, 0, to);
        shmem_getmem(NULL, NULL, 0, to);
        shmem_long_iput(NULL, NULL, 1, 1, 0, to);
        CHECK_EQ(shmem_long_wait_until_some(NULL, 0, NULL, NULL, SHMEM_CMP_EQ, 0), 0);
        CHECK_EQ(shmem_long_test_all_vector(NULL, 0, NULL, SHMEM_CMP_EQ, NULL), 1);
        CHECK_EQ(shmem_long_test_some(NULL, 0, &index, NULL, SHMEM_CMP_EQ, 0), 0);
        CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL), 0);
        CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
        shmem_pe_quiet(NULL, 0);
        shmem_ctx_quiet(SHMEM_CTX_INVALID);
        shmem_ctx_fence(SHMEM_CTX_INVALID);
        shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, NULL, 0);
        shmem_ctx_destroy(SHMEM_CTX_INVALID);
    }
    shmem_barrier_all(); /* not reached by all but the last: the job has ended */
    shmem_finalize();
    return 0;
}
