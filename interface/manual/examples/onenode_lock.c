/* Three processes count in rank 0's memory. A lock keeps the count right. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, KEY = 1 };

static long count;
static uint64_t lock;

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
    const uint32_t ranks[RANKS] = { 0, 1, 2 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    volatile long *there = ONENODE_AT(&peers.table, view, &count, 0);
    if (there == NULL)
        check(ONENODE_ENOTHERE);
    for (int i = 0; i < 100; i++) {
        check(onenode_lock(group, &lock, view, ONENODE_EVER));
        *there = *there + 1;
        check(onenode_unlock(group, &lock, view));
    }
    check(onenode_barrier(group, ONENODE_EVER));
    if (rank == 0)
        printf("the count is %ld\n", count);
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_lock
 * the count is 300 */
