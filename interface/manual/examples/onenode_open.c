/* A process opens a node with memory for its own use, and closes it. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int result)
{
    if (result < 0) {
        fprintf(stderr, "%s\n", onenode_message());
        exit(1);
    }
}

int main(void)
{
    onenode_config config = {
        .size = sizeof config,
        .rank = 3,
        .file = -1,
        .extra = 4096
    };
    onenode_t *node;
    check(onenode_open(&config, &node));
    printf("rank 3 is attached: %d\n",
           onenode_state(node, 3) == ONENODE_ATTACHED);
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_open
 * rank 3 is attached: 1 */
