// pes: 2 3 4 8 16
/* The root of a broadcast of few bytes does not wait for those who only read; nor does it, however far it
 * runs ahead, write over what they have not read yet. On all PEs, and on every second one. */
#include "coll.h"
#include <unistd.h>

enum { ROUNDS = 200, WORDS = 140 };
enum { MANY = 1000 };
static long source[WORDS], dest[WORDS], word, many_in[MANY], many_out[MANY];

static long given(int root, int round, size_t i) { return root * 1000000L + round * 1000L + (long)i; }

/* One broadcast of n words; the root's source is used again at once. */
static void call(struct group g, int root, int round, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        source[i] = given(g.me, round, i);
        dest[i] = -1;
    }
    CHECK_EQ(shmem_long_broadcast(g.team, dest, source, n, root), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(dest[i], given(root, round, i));
}

/* The others come only once the root has left its calls. */
static void nobody_is_waited_for(struct group g)
{
    enum { CALLS = 5 };
    word = 0;
    shmem_team_sync(g.team);
    if (g.me != 0)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (int round = 0; round < CALLS; round++)
        call(g, 0, round, 1 + (size_t)round);
    if (g.me == 0)
        for (int member = 1; member < g.size; member++)
            shmem_long_p(&word, 1, shmem_team_translate_pe(g.team, member, SHMEM_TEAM_WORLD));
    shmem_team_sync(g.team);
}

/* Readers of any speed, roots in turn, messages of any length, and other collectives in between. */
static void nothing_is_lost(struct group g, uint64_t seed)
{
    uint64_t same = seed, own = seed + 1 + (uint64_t)shmem_my_pe();
    for (int round = 0; round < ROUNDS; round++) {
        int root = (int)check_random(&same, 3) ? 0 : round % g.size;
        size_t n = check_random(&same, 2) ? 1 : 1 + check_random(&same, WORDS);
        if (g.me != root && check_random(&own, 40) == 0)
            usleep(200);
        call(g, root, round, n);
        switch (check_random(&same, 12)) {
        case 0:
            shmem_team_sync(g.team);
            break;
        case 1:
            CHECK_EQ(shmem_long_sum_reduce(g.team, dest, source, 1), 0);
            CHECK_EQ(dest[0], given(g.size * (g.size - 1) / 2, 0, 0) + g.size * given(0, round, 0));
            break;
        case 2: /* an algorithm of its own steps */
            CHECK_EQ(shmem_long_broadcast(g.team, many_out, many_in, MANY, root), 0);
            break;
        }
    }
}

int main(void)
{
    struct group groups[GROUPS];
    shmem_init();
    int ngroups = make_groups(groups);
    for (int k = 0; k < ngroups; k++) {
        nobody_is_waited_for(groups[k]);
        nothing_is_lost(groups[k], check_seed() + (uint64_t)k);
    }
    shmem_finalize();
    return 0;
}
