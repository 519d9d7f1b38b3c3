/* A process waits for a number of its peer, for ten seconds at most. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, KEY = 1 };

static uint64_t number;

static void check(int result)
{
    if (result < 0) {
        fprintf(stderr, "%s\n", onenode_message());
        exit(1);
    }
}

int main(void)
{
    const pid_t key = getpid();
    uint32_t rank = 0;
    while (rank + 1 < RANKS && fork() == 0)
        rank++;

    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    onenode_memory memory = {
        .size = sizeof memory, .source = ONENODE_PROGRAM
    };
    check(onenode_region(node, KEY, &memory, NULL, NULL));
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));
    static ONENODE_TABLE(peers, RANKS);
    onenode_view_t *view;
    const uint64_t keys[] = { KEY };
    check(onenode_view_open(node, keys, 1, &peers.table, &view));

    if (rank == 1) {
        uint64_t *there = ONENODE_AT(&peers.table, view, &number, 0);
        if (there == NULL)
            check(ONENODE_ENOTHERE);
        __atomic_store_n(there, 42, __ATOMIC_RELEASE);
    } else {
        const uint64_t limit = 10000000000; /* nanoseconds */
        check(onenode_wait(node, &number, ONENODE_NE, 0, 1, limit));
        printf("rank 0 has got %d\n", (int)number);
    }
    while (wait(NULL) > 0)
        ;
    check(onenode_view_close(view));
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_wait
 * rank 0 has got 42 */
