/* Rank 1 sends a number through rank 0's own bytes. No region is needed. */
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
        .size = sizeof config, .rank = rank, .file = -1,
        .extra = sizeof(uint64_t)
    };
    check(onenode_open(&config, &node));
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));

    uint64_t *word = onenode_extra(node, 0);
    if (word == NULL)
        check(ONENODE_ENOTHERE);
    if (rank == 1) {
        __atomic_store_n(word, 42, __ATOMIC_RELEASE);
    } else {
        check(onenode_wait(node, word, ONENODE_NE, 0, 1, ONENODE_EVER));
        printf("rank 0 has got %d\n", (int)*word);
    }
    while (wait(NULL) > 0)
        ;
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_extra
 * rank 0 has got 42 */
