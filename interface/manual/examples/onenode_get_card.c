/* Parent and child exchange their cards through pipes. The parent attaches the child, kills it, and sees how its state changes. */
#define _GNU_SOURCE
#include <err.h>
#include <onenode.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int result)
{
    if (result < 0)
        errx(1, "%s", onenode_message());
}

int main(void)
{
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        return 1;
    const pid_t child = fork();
    uint32_t rank = child == 0, other = !rank;
    const int in = rank ? down[0] : up[0], out = rank ? up[1] : down[1];
    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));

    onenode_card card;
    check(onenode_get_card(node, &card));
    if (write(out, &card, sizeof card) != sizeof card
        || read(in, &card, sizeof card) != sizeof card)
        return 1;
    check(onenode_know(node, &other, &card));
    if (rank == 1)
        return sleep(60);
    printf("here: %d\n", onenode_state(node, 1) == ONENODE_HERE);
    check(onenode_attach(node, 1, ONENODE_EVER));
    printf("attached: %d\n", onenode_state(node, 1) == ONENODE_ATTACHED);
    kill(child, SIGKILL);
    wait(NULL);
    printf("dead: %d\n", onenode_state(node, 1) == ONENODE_DEAD);
    check(onenode_detach(node, 1));
    printf("unknown: %d\n", onenode_state(node, 1) == ONENODE_UNKNOWN);
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_get_card
 * here: 1
 * attached: 1
 * dead: 1
 * unknown: 1 */
