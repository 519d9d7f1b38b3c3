/* A process attaches its peer, within a second, before it uses the peer's memory. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, KEY = 1 };

static int number;

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
    onenode_group_t *group;
    const uint32_t ranks[RANKS] = { 0, 1 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    const uint32_t other = !rank;
    check(onenode_attach(node, other, 1000000000));
    int *there = onenode_at(&peers.table, &number, other);
    *there = 40 + (int)rank;
    check(onenode_barrier(group, ONENODE_EVER));
    printf("rank %u has got %d\n", rank, number);

    check(onenode_detach(node, other));
    printf("after that, rank %u is attached: %d\n", other,
           onenode_at(&peers.table, &number, other) != NULL);
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_attach
 * rank 0 has got 41
 * rank 1 has got 40
 * after that, rank 0 is attached: 0
 * after that, rank 1 is attached: 0 */
