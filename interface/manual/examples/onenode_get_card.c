/* Parent and child exchange their cards through pipes. */
#include <onenode.h>
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
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        return 1;
    const uint32_t rank = fork() == 0;
    const int in = rank ? down[0] : up[0], out = rank ? up[1] : down[1];
    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));

    onenode_card card;
    check(onenode_get_card(node, &card));
    if (write(out, &card, sizeof card) != sizeof card)
        return 1;
    if (read(in, &card, sizeof card) != sizeof card)
        return 1;
    uint32_t other = !rank;
    check(onenode_know(node, &other, &card));
    printf("rank %u: rank %u can be reached: %d\n", rank, other,
           onenode_state(node, other) == ONENODE_HERE);
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_get_card
 * rank 0: rank 1 can be reached: 1
 * rank 1: rank 0 can be reached: 1 */
