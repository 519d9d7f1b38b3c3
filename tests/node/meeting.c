/* Ranks that meet at a key instead of exchanging cards: in any order, several meetings at a time and
 * one after the other; and what ends a meeting to which somebody does not come. */
#include "job.h"

enum { HEAP = 1, MS = 1000000 };

static char key[64];

/* All see each other's memory when they have met. */
static void met(const char *name, uint32_t rank, uint32_t of)
{
    static const uint64_t heap_key = HEAP;
    onenode_table *table = table_for(of);
    onenode_t *node = opened(rank);
    onenode_view_t *view;
    uint64_t *heap = (uint64_t *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096);

    heap[1] = 70 + rank;
    WORKS(onenode_meet(node, name, strlen(name), of, ONENODE_EVER));
    WORKS(onenode_view_open(node, &heap_key, 1, table, &view));
    for (uint32_t r = 0; r < of; r++) {
        uint64_t *there = (uint64_t *)ONENODE_AT(table, view, &heap[1], r);
        CHECK(there != NULL && *there == 70 + r);
    }
    meet();
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
}

static void body(void)
{
    char half[80];
    usleep((useconds_t)((unsigned)me * 7919 % 5000));
    met(key, (uint32_t)me, (uint32_t)ranks);
    met(key, (uint32_t)(ranks - 1 - me), (uint32_t)ranks);
    /* The even ones and the odd ones apart, at a time. */
    snprintf(half, sizeof half, "%s of %d", key, me % 2);
    met(half, (uint32_t)me / 2, (uint32_t)(ranks + 1 - me % 2) / 2);
}

static int stop(void *arg)
{
    return ++*(int *)arg >= 5;
}

static void alone(void)
{
    onenode_t *node = opened(0), *none = opened(ONENODE_NO_RANKS), *stopped;
    onenode_config config;
    int turns = 0;

    FAILS(onenode_meet(node, key, sizeof key, 2, 20 * MS), ONENODE_ETIME, "onenode_meet: the time limit");
    FAILS(onenode_meet(node, key, sizeof key, 0, 0), ONENODE_EINVAL, "onenode_meet: ranks = 0");
    FAILS(onenode_meet(node, NULL, 4, 2, 0), ONENODE_EINVAL, "key = NULL");
    FAILS(onenode_meet(none, key, sizeof key, 2, 0), ONENODE_EINVAL, "rank = none");
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.file = -1;
    config.progress = stop;
    config.progress_arg = &turns;
    WORKS(onenode_open(&config, &stopped));
    FAILS(onenode_meet(stopped, key, sizeof key, 2, ONENODE_EVER), ONENODE_ESTOPPED, "progress function");
    CHECK(turns >= 5);
    /* Nothing of all that is left: one is enough for a meeting of one. */
    WORKS(onenode_meet(node, key, sizeof key, 1, ONENODE_EVER));
    WORKS(onenode_close(stopped));
    WORKS(onenode_close(none));
    WORKS(onenode_close(node));
}

static pid_t first;

/* Whether this process has come to a meeting: before that, waits for other programs' meetings call the
 * progress function, too. */
static int has_come(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (!found && fgets(line, sizeof line, maps) != NULL)
        found = strstr(line, "/onenode-") != NULL;
    fclose(maps);
    return found;
}

/* Rank 0 waits: the others come, and wait for each other, with it. */
static int announce(void *turns)
{
    if (has_come() && ++*(int *)turns <= 2)
        meet();
    return 0;
}

/* Rank 1 waits with it, and kills it. */
static int kill_first(void *done)
{
    if (*(int *)done == 0 && has_come()) {
        kill(first, SIGKILL);
        *(int *)done = 1;
    }
    return 0;
}

/* While rank 0 waits for two more, one comes with another number of ranks, and one as rank 0; then rank 0
 * is killed. */
static void trouble(void)
{
    onenode_config config;
    onenode_t *node, *same;
    pid_t pid = getpid(), all[MOST_RANKS];
    int done = 0;

    exchange(&pid, sizeof pid, all);
    first = all[0];
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = (uint32_t)me;
    config.file = -1;
    config.progress = me == 0 ? announce : kill_first;
    config.progress_arg = &done;
    WORKS(onenode_open(&config, &node));
    if (me == 0)
        onenode_meet(node, key, strlen(key), 3, ONENODE_EVER);
    meet();
    if (me == 2) {
        same = opened(0);
        FAILS(onenode_meet(same, key, strlen(key), 3, ONENODE_EVER), ONENODE_EINVAL,
              "rank = 0: expected a number that no other process has");
        WORKS(onenode_close(same));
        meet();
    } else {
        FAILS(onenode_meet(node, key, strlen(key), 2, ONENODE_EVER), ONENODE_EINVAL, "ranks = 2");
        meet();
        FAILS(onenode_meet(node, key, strlen(key), 3, ONENODE_EVER), ONENODE_EDIED, "rank 0 has ended");
    }
    WORKS(onenode_close(node));
}

int main(void)
{
    static const int some[] = { 1, 2, 3, 7, 16 };
    snprintf(key, sizeof key, "meeting of %d", (int)getpid());
    for (int i = 0; i < 5; i++)
        run(some[i], 0, body);
    run(1, 0, alone);
    run(3, 1, trouble);
    return failures != 0;
}
