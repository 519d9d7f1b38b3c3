/* Four processes add their arrays, element by element. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, KEY = 1 };

static double source[2], sum[2];

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
    const uint32_t ranks[RANKS] = { 0, 1, 2, 3 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    source[0] = 1 + (double)rank;
    source[1] = 0.5;
    onenode_collective sums = {
        .size = sizeof sums, .operation = ONENODE_ALLREDUCE,
        .reduction = ONENODE_SUM, .element = ONENODE_DOUBLE,
        .dest = sum, .source = source, .bytes = sizeof source,
        .view = view
    };
    check(onenode_run(group, &sums, ONENODE_EVER));
    if (rank == 0)
        printf("the sums are %g and %g\n", sum[0], sum[1]);
    check(onenode_barrier(group, ONENODE_EVER));
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_run
 * the sums are 10 and 2 */
