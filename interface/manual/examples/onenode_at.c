/* Each process stores its rank into a variable of the next one. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, KEY = 1 };

static uint32_t left;

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

    const uint32_t next = (rank + 1) % RANKS;
    uint32_t *there = ONENODE_AT(&peers.table, view, &left, next);
    if (there == NULL)
        check(ONENODE_ENOTHERE);
    *there = rank;
    check(onenode_barrier(group, ONENODE_EVER));
    printf("rank %u is right of rank %u\n", rank, left);

    int local;
    if (onenode_at(&peers.table, &local, next) == NULL && rank == 0)
        printf("a local variable is outside the view\n");
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_at
 * rank 0 is right of rank 2
 * rank 1 is right of rank 0
 * rank 2 is right of rank 1
 * a local variable is outside the view */
