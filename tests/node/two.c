/* Two processes: the parent and its child put a number into each other's memory. See onenode(7).
 *
 *     cc two.c $(pkg-config --cflags --libs onenode) && ./a.out */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long number; /* in the data segment, which is the region */

static void check(int result)
{
    if (result != ONENODE_OK) {
        fprintf(stderr, "%s\n", onenode_message());
        exit(1);
    }
}

int main(void)
{
    static ONENODE_TABLE(peers, 2);
    const uint64_t key = 1;
    int to_child[2], to_parent[2];
    if (pipe(to_child) != 0 || pipe(to_parent) != 0)
        return 1;
    const pid_t child = fork();
    const uint32_t rank = child == 0;
    uint32_t other = !rank;
    const int in = rank ? to_child[0] : to_parent[0], out = rank ? to_parent[1] : to_child[1];

    /* A node, and a region: the variables of this program. */
    onenode_t *node;
    onenode_config config = { .size = sizeof config, .rank = rank, .file = -1 };
    check(onenode_open(&config, &node));
    onenode_memory memory = { .size = sizeof memory, .source = ONENODE_PROGRAM };
    check(onenode_region(node, key, &memory, NULL, NULL));

    /* The exchange of cards, here through a pipe. */
    onenode_card card;
    check(onenode_get_card(node, &card));
    if (write(out, &card, sizeof card) != sizeof card || read(in, &card, sizeof card) != sizeof card)
        return 1;
    check(onenode_know(node, &other, &card));

    /* A view, and a store into the other's variable. */
    onenode_view_t *view;
    check(onenode_view_open(node, &key, 1, &peers.table, &view));
    long *there = ONENODE_AT(&peers.table, view, &number, other);
    if (there == NULL) {
        fprintf(stderr, "%s\n", onenode_message());
        return 1;
    }
    __atomic_store_n(there, 40 + rank, __ATOMIC_RELEASE);
    while (__atomic_load_n(&number, __ATOMIC_ACQUIRE) == 0)
        usleep(100);
    printf("rank %u has got %ld\n", rank, number);

    check(onenode_view_close(view));
    check(onenode_close(node));
    return child != 0 && (wait(NULL) != child || number != 41);
}
