/* Rank 1 copies an array to rank 0 and signals that it is there. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, KEY = 1 };

static long dest[4];
static uint64_t signal;

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
        const long source[4] = { 1, 2, 3, 4 };
        long *there = ONENODE_AT(&peers.table, view, dest, 0);
        uint64_t *flag = ONENODE_AT(&peers.table, view, &signal, 0);
        if (there == NULL || flag == NULL)
            check(ONENODE_ENOTHERE);
        check(onenode_copy_signal(there, source, sizeof source,
                                  flag, 1, 0));
    } else {
        check(onenode_wait(node, &signal, ONENODE_EQ, 1, 1,
                           ONENODE_EVER));
        printf("%ld %ld %ld %ld\n", dest[0], dest[1], dest[2], dest[3]);
    }
    while (wait(NULL) > 0)
        ;
    check(onenode_view_close(view));
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_copy
 * 1 2 3 4 */
