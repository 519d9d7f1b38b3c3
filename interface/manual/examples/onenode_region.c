/* Rank 0 adopts memory that it has filled already; rank 1 reads it. */
#define _GNU_SOURCE
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, KEY = 1 };

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

    const size_t bytes = 1 << 20;
    char *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(buffer, bytes, "text of rank %u", rank);

    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    onenode_memory memory = {
        .size = sizeof memory, .source = ONENODE_ADOPT,
        .start = buffer, .bytes = bytes
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

    if (rank == 1) {
        const char *there = ONENODE_AT(&peers.table, view, buffer, 0);
        printf("rank 1 reads: %s\n", there);
    }
    check(onenode_barrier(group, ONENODE_EVER));
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_unregion(node, KEY));
    printf("rank %u still has: %s\n", rank, buffer);
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_region
 * rank 1 reads: text of rank 0
 * rank 0 still has: text of rank 0
 * rank 1 still has: text of rank 1 */
