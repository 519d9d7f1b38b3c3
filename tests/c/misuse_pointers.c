// pes: 2
// variants: pie static
/* Null pointers and handles that are none are told by routine and argument: rule 0.4. */
// case: provided provided | status=nonzero stderr=shmem_init_thread stderr=provided
// case: query_thread query_thread | status=nonzero stderr=shmem_query_thread stderr=provided
// case: query_initialized query_initialized | status=nonzero stderr=shmem_query_initialized
// case: version version | status=nonzero stderr=shmem_info_get_version stderr=minor
// case: name name | status=nonzero stderr=shmem_info_get_name stderr=name
// case: ctx_create ctx_create | status=nonzero stderr=shmem_ctx_create stderr=ctx
// case: ctx_get_team ctx_get_team | status=nonzero stderr=shmem_ctx_get_team stderr=team
// case: split_strided split_strided | status=nonzero stderr=shmem_team_split_strided stderr=new_team
// case: split_2d split_2d | status=nonzero stderr=shmem_team_split_2d stderr=yaxis_team
// case: get_config get_config | status=nonzero stderr=shmem_team_get_config stderr=config
// case: indices indices | status=nonzero stderr=shmem_long_wait_until_some stderr=indices
// case: cmp_values cmp_values | status=nonzero stderr=shmem_long_test_all_vector stderr=cmp_values
// case: pe_quiet pe_quiet | status=nonzero stderr=shmem_pe_quiet stderr=target_pes
// case: psync-private psync-private | status=nonzero stderr=shmem_sync: stderr=pSync
// case: psync-unaligned psync-unaligned | status=nonzero stderr=shmem_barrier: stderr=pSync
// case: psync-null psync-null | status=nonzero stderr=shmem_broadcast64: stderr=pSync
// case: garbage-ctx-p garbage-ctx-p | status=nonzero stderr=shmem_ctx_long_p stderr=ctx
// case: garbage-ctx-g garbage-ctx-g | status=nonzero stderr=shmem_ctx_long_g stderr=ctx
// case: garbage-ctx-put garbage-ctx-put | status=nonzero stderr=shmem_ctx_putmem stderr=ctx
// case: garbage-ctx-iput garbage-ctx-iput | status=nonzero stderr=shmem_ctx_long_iput stderr=ctx
// case: garbage-ctx-add garbage-ctx-add | status=nonzero stderr=shmem_ctx_long_atomic_add stderr=ctx
// case: garbage-ctx-signal garbage-ctx-signal | status=nonzero stderr=shmem_ctx_putmem_signal stderr=ctx
// case: garbage-ctx-quiet garbage-ctx-quiet | status=nonzero stderr=shmem_ctx_quiet stderr=ctx
// case: garbage-ctx-fence garbage-ctx-fence | status=nonzero stderr=shmem_ctx_fence stderr=ctx
// case: garbage-ctx-pe_quiet garbage-ctx-pe_quiet | status=nonzero stderr=shmem_ctx_pe_quiet stderr=ctx
// case: garbage-ctx-destroy garbage-ctx-destroy | status=nonzero stderr=shmem_ctx_destroy stderr=ctx
// case: garbage-ctx-team garbage-ctx-team | status=nonzero stderr=shmem_ctx_get_team stderr=ctx
// case: garbage-ctx-session garbage-ctx-session | status=nonzero stderr=shmem_ctx_session_start stderr=ctx
// case: garbage-team-pe garbage-team-pe | status=nonzero stderr=shmem_team_my_pe stderr=team
// case: garbage-team-sync garbage-team-sync | status=nonzero stderr=shmem_team_sync stderr=team
// case: garbage-team-ptr garbage-team-ptr | status=nonzero stderr=shmem_team_ptr stderr=team
// case: garbage-team-split garbage-team-split | status=nonzero stderr=shmem_team_split_strided stderr=team
// case: garbage-team-reduce garbage-team-reduce | status=nonzero stderr=shmem_long_sum_reduce stderr=team
// case: garbage-team-ctx garbage-team-ctx | status=nonzero stderr=shmem_team_create_ctx stderr=team
// case: destroyed-team destroyed-team | status=nonzero stderr=shmem_team_n_pes stderr=team
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
    if (IS("provided")) shmem_init_thread(SHMEM_THREAD_SINGLE, NULL);
    shmem_init();
    int number, to = !shmem_my_pe();
    long here = 1;
    size_t index;
    shmem_team_t team;
    shmem_team_config_t config;
    int choice = (int)(check_seed() % 7);
    shmem_ctx_t ctx = (shmem_ctx_t)garbage(choice);
    shmem_team_t no_team = (shmem_team_t)garbage(choice == 0 ? 6 : choice);
    if (IS("query_thread")) shmem_query_thread(NULL);
    if (IS("query_initialized")) shmem_query_initialized(NULL);
    if (IS("version")) shmem_info_get_version(&number, NULL);
    if (IS("name")) shmem_info_get_name(NULL);
    if (IS("ctx_create")) shmem_ctx_create(0, NULL);
    if (IS("ctx_get_team")) shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL);
    if (IS("split_strided")) shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL);
    if (IS("split_2d"))
        shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, NULL);
    if (IS("get_config")) shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, NULL);
    if (IS("indices")) shmem_long_wait_until_some(data, 4, NULL, NULL, SHMEM_CMP_EQ, 0);
    if (IS("cmp_values")) shmem_long_test_all_vector(data, 4, NULL, SHMEM_CMP_EQ, NULL);
    if (IS("pe_quiet")) shmem_pe_quiet(NULL, 1);
    if (IS("psync-private")) shmem_sync(0, 0, 2, &here);
    if (IS("psync-unaligned")) shmem_barrier(0, 0, 2, (long *)((char *)data + 4));
    if (IS("psync-null")) shmem_broadcast64(data, data + 8, 1, 0, 0, 0, 2, NULL);
    if (IS("garbage-ctx-p")) shmem_ctx_long_p(ctx, data, 1, to);
    if (IS("garbage-ctx-g")) here = shmem_ctx_long_g(ctx, data, to);
    if (IS("garbage-ctx-put")) shmem_ctx_putmem(ctx, data, &here, 8, 0);
    if (IS("garbage-ctx-iput")) shmem_ctx_long_iput(ctx, data, &here, 1, 1, 1, 0);
    if (IS("garbage-ctx-add")) shmem_ctx_long_atomic_add(ctx, data, 1, to);
    if (IS("garbage-ctx-signal"))
        shmem_ctx_putmem_signal(ctx, data, &here, 8, &sig, 1, SHMEM_SIGNAL_ADD, to);
    if (IS("garbage-ctx-quiet")) shmem_ctx_quiet(ctx);
    if (IS("garbage-ctx-fence")) shmem_ctx_fence(ctx);
    if (IS("garbage-ctx-pe_quiet")) shmem_ctx_pe_quiet(ctx, &to, 1);
    if (IS("garbage-ctx-destroy")) shmem_ctx_destroy(ctx);
    if (IS("garbage-ctx-team")) shmem_ctx_get_team(ctx, &team);
    if (IS("garbage-ctx-session")) shmem_ctx_session_start(ctx, 0, NULL, 0);
    if (IS("garbage-team-pe")) shmem_team_my_pe(no_team);
    if (IS("garbage-team-sync")) shmem_team_sync(no_team);
    if (IS("garbage-team-ptr")) CHECK(shmem_team_ptr(no_team, data, 0) != data);
    if (IS("garbage-team-split")) shmem_team_split_strided(no_team, 0, 1, 1, NULL, 0, &team);
    if (IS("garbage-team-reduce")) shmem_long_sum_reduce(no_team, data, &one, 1);
    if (IS("garbage-team-ctx")) shmem_team_create_ctx(no_team, 0, &ctx);
    if (IS("destroyed-team")) {
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
