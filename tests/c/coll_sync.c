// pes: 1 2 3 4 7 8 16
/* Barriers and syncs: nobody leaves before everybody came; a barrier completes. */
#include "coll.h"

static long arrived, dest;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    uint64_t seed = check_seed() + (uint64_t)me;
    struct group groups[GROUPS];
    int ngroups = make_groups(groups);

    for (long r = 1; r <= check_rounds(300); r++) {
        /* rule 10.7, rule 10a.1: puts and atomics on the default context are complete everywhere */
        shmem_long_atomic_inc(&arrived, 0);
        shmem_long_p(&dest, r, to);
        for (uint64_t delay = check_random(&seed, 2000); delay > 0; delay--)
            __asm__ volatile("");
        shmem_barrier_all();
        CHECK_EQ(dest, r);
        CHECK_EQ(shmem_long_g(&arrived, 0), r * npes);
        /* rule 10a.2: own stores are visible to all after a sync */
        static long store;
        store = r * 1000 + me;
        if (r % 2)
            shmem_sync_all();
        else
            CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
        CHECK_EQ(shmem_long_g(&store, to), r * 1000 + to);
        shmem_sync_all();
    }
    for (int k = 0; k < GROUPS; k++) {
        static long count;
        count = 0;
        shmem_barrier_all();
        if (k >= ngroups)
            continue; /* not everyone is in the last one */
        struct group g = groups[k];
        int first = shmem_team_translate_pe(g.team, 0, SHMEM_TEAM_WORLD);
        for (long r = 1; r <= check_rounds(100); r++) {
            shmem_long_atomic_inc(&count, first);
            /* rule 10a.3: quiet and team sync are a team barrier */
            shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
            CHECK_EQ(shmem_team_sync(g.team), 0);
            CHECK_EQ(shmem_long_g(&count, first), r * g.size);
            CHECK_EQ(shmem_team_sync(g.team), 0);
        }
    }
    shmem_finalize();
    return 0;
}
