/* Three processes meet by a key, the number of the first of them. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3 };

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
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));

    int reachable = 0;
    for (uint32_t other = 0; other < RANKS; other++)
        reachable += onenode_state(node, other) != ONENODE_UNKNOWN;
    printf("rank %u knows %d ranks\n", rank, reachable);
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_meet
 * rank 0 knows 3 ranks
 * rank 1 knows 3 ranks
 * rank 2 knows 3 ranks */
