/* A view of two regions, with a table that is allocated. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2 };

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
        .size = sizeof memory, .source = ONENODE_ALLOC, .bytes = 4096
    };
    void *first, *second;
    check(onenode_region(node, 1, &memory, &first, NULL));
    check(onenode_region(node, 2, &memory, &second, NULL));
    int *numbers = first;
    long *array = second;
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));

    onenode_table *table = calloc(1, onenode_table_bytes(RANKS));
    table->capacity = RANKS;
    const uint64_t keys[] = { 1, 2 };
    onenode_view_t *view;
    check(onenode_view_open(node, keys, 2, table, &view));
    onenode_group_t *group;
    const uint32_t ranks[RANKS] = { 0, 1 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    const uint32_t other = !rank;
    *(int *)ONENODE_AT(table, view, &numbers[3], other) = 10 + (int)rank;
    *(long *)ONENODE_AT(table, view, &array[7], other) = 20 + rank;
    check(onenode_barrier(group, ONENODE_EVER));
    printf("rank %u has got %d and %ld\n", rank, numbers[3], array[7]);
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    free(table);
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_view_open
 * rank 0 has got 11 and 21
 * rank 1 has got 10 and 20 */
