/* Ranks that leave and come: one closes its node and opens another, one is killed and a new process takes
 * its rank. The others learn which it was, detach it, and reach the one that came by its own card. */
#include "job.h"
#include <sys/prctl.h>

enum { HEAP = 1, ROUNDS = 20, GUEST = 1 };

static const uint64_t heap_key = HEAP;

/* Mappings of this process. */
static int mappings(void)
{
    int lines = 0, c;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while ((c = getc(maps)) != EOF)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

/* A guest's part of a round: it comes, is seen, and leaves. */
static void visit(int round)
{
    onenode_card own, all[MOST_RANKS];
    onenode_t *node = opened((uint32_t)me);
    long *heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096);
    heap[1] = 1000 * round + me;
    WORKS(onenode_get_card(node, &own));
    exchange(&own, sizeof own, all);
    meet();
    CHECK(heap[2] == 1000 * round + me + ranks - 1);
    WORKS(onenode_close(node));
    meet();
}

/* A host's: it takes the card, uses the guest's memory, and sees the guest leave. */
static void receive(onenode_t *node, onenode_view_t *view, const onenode_table *table, long *heap,
                    const onenode_card *before, onenode_card *card, int round)
{
    onenode_card own, all[MOST_RANKS];
    uint32_t rank = GUEST, found = 77;
    long *there;

    WORKS(onenode_get_card(node, &own));
    exchange(&own, sizeof own, all);
    *card = all[GUEST];
    if (round > 0) {
        /* The one before is attached still, and is not mixed up with the one that came. */
        FAILS(onenode_know(node, &rank, card), ONENODE_EINVAL, "detached first");
        FAILS(onenode_rank_of(node, card, &found), ONENODE_ENOCARD, "no known rank");
        WORKS(onenode_rank_of(node, before, &found));
        CHECK(found == GUEST && onenode_state(node, GUEST) == ONENODE_LEFT);
        WORKS(onenode_detach(node, GUEST));
        FAILS(onenode_rank_of(node, before, &found), ONENODE_ENOCARD, "its rank is detached");
        CHECK(onenode_state(node, GUEST) == ONENODE_UNKNOWN);
        /* A card of a node that is closed leads nowhere. */
        WORKS(onenode_know(node, &rank, before));
        FAILS(onenode_attach(node, GUEST, ONENODE_EVER), ONENODE_ELEFT, "rank 1 has closed its node");
    }
    WORKS(onenode_know(node, &rank, card));
    WORKS(onenode_attach(node, GUEST, ONENODE_EVER));
    there = (long *)onenode_at(table, heap, GUEST);
    CHECK(there != NULL && there == onenode_resolve(view, heap, GUEST));
    CHECK(there[1] == 1000 * round + GUEST);
    /* Each of the others adds 1 to what the guest has written, in a word beside it. */
    __atomic_fetch_add(&there[2], me == 0 ? there[1] + 1 : 1, __ATOMIC_SEQ_CST);
    meet();
    meet();
}

static void body(void)
{
    onenode_table *table = table_for((size_t)ranks);
    onenode_card before, card;
    onenode_view_t *view;
    onenode_t *node;
    long *heap;
    int mapped = 0;

    if (me == GUEST) {
        for (int round = 0; round < ROUNDS; round++)
            visit(round);
        free(table);
        return;
    }
    node = opened((uint32_t)me);
    heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096);
    WORKS(onenode_view_open(node, &heap_key, 1, table, &view));
    for (int round = 0; round < ROUNDS; round++) {
        receive(node, view, table, heap, &before, &card, round);
        before = card;
        if (round == 1)
            mapped = mappings();
    }
    CHECK(mappings() <= mapped + 2);
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
}

/* Pages that parent and child share: the card, and words to take turns by. */
struct shared {
    onenode_card card;
    int turn;
};

static void await(struct shared *shared, int turn)
{
    while (__atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) != turn)
        usleep(200);
}

/* A process of rank 1, which never ends by itself. */
static void stay(struct shared *shared, int generation)
{
    onenode_t *node;
    long *heap;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    node = opened(GUEST);
    heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096);
    heap[1] = generation;
    WORKS(onenode_get_card(node, &shared->card));
    __atomic_store_n(&shared->turn, generation, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

/* New processes take the rank of killed ones. */
static void successors(void)
{
    struct shared *shared = (struct shared *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    onenode_table *table = table_for(2);
    onenode_t *node = opened(0);
    onenode_view_t *view;
    long *heap = (long *)region(node, HEAP, ONENODE_ALLOC, NULL, 4096);

    WORKS(onenode_view_open(node, &heap_key, 1, table, &view));
    for (int generation = 1; generation <= ROUNDS; generation++) {
        onenode_card card;
        uint32_t rank = GUEST;
        long *there;
        pid_t child = fork();
        if (child == 0)
            stay(shared, generation);
        await(shared, generation);
        card = shared->card;
        WORKS(onenode_know(node, &rank, &card));
        there = (long *)ONENODE_AT(table, view, &heap[1], GUEST);
        CHECK(there != NULL && *there == generation);
        CHECK(onenode_state(node, GUEST) == ONENODE_ATTACHED);
        kill(child, SIGKILL);
        CHECK(waitpid(child, NULL, 0) == child);
        CHECK(onenode_state(node, GUEST) == ONENODE_DEAD);
        WORKS(onenode_detach(node, GUEST));
        /* The card of one that has ended. */
        WORKS(onenode_know(node, &rank, &card));
        FAILS(onenode_attach(node, GUEST, ONENODE_EVER), ONENODE_EDIED, "rank 1 has ended");
        CHECK(ONENODE_AT(table, view, &heap[1], GUEST) == NULL);
    }
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    munmap(shared, 4096);
    free(table);
}

int main(void)
{
    alarm(SECONDS);
    run(2, 0, body);
    run(4, 0, body);
    successors();
    return failures != 0;
}
