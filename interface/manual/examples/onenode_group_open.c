/* The even and the odd ranks of four processes form a group each. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4 };

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

    const uint32_t ranks[] = { rank % 2, rank % 2 + 2 };
    onenode_group_t *group;
    check(onenode_group_open(node, 1, ranks, 2, &group));
    check(onenode_barrier(group, ONENODE_EVER));
    printf("rank %u: ranks %u and %u have met\n", rank,
           ranks[0], ranks[1]);
    check(onenode_group_close(group));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_group_open
 * rank 0: ranks 0 and 2 have met
 * rank 1: ranks 1 and 3 have met
 * rank 2: ranks 0 and 2 have met
 * rank 3: ranks 1 and 3 have met */
