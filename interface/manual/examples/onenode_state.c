/* A process sees how its peer's state changes when the peer is killed. */
#define _GNU_SOURCE
#include <onenode.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
    const pid_t child = fork();
    const uint32_t rank = child == 0;
    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    check(onenode_meet(node, &key, sizeof key, 2, ONENODE_EVER));
    if (rank == 1) {
        sleep(60);
        return 1;
    }
    check(onenode_attach(node, 1, ONENODE_EVER));
    printf("attached: %d\n", onenode_state(node, 1) == ONENODE_ATTACHED);
    kill(child, SIGKILL);
    wait(NULL);
    printf("dead: %d\n", onenode_state(node, 1) == ONENODE_DEAD);
    printf("unknown: %d\n", onenode_state(node, 2) == ONENODE_UNKNOWN);
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_state
 * attached: 1
 * dead: 1
 * unknown: 1 */
