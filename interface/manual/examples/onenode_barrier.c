/* A process does other work until all members have arrived. */
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
    onenode_group_t *group;
    const uint32_t ranks[RANKS] = { 0, 1, 2 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    long work = 0;
    int arrived;
    check(onenode_arrive(group));
    do {
        work++;
        arrived = onenode_arrived(group);
        check(arrived);
    } while (!arrived);
    printf("all have arrived; rank %u worked meanwhile: %d\n", rank,
           work > 0);
    check(onenode_barrier(group, ONENODE_EVER));
    check(onenode_group_close(group));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_barrier
 * all have arrived; rank 0 worked meanwhile: 1
 * all have arrived; rank 1 worked meanwhile: 1
 * all have arrived; rank 2 worked meanwhile: 1 */
