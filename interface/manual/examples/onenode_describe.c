/* A process prints the first property in the description of its node. */
#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        .size = sizeof config, .rank = 5, .file = -1
    };
    onenode_t *node;
    check(onenode_open(&config, &node));
    size_t length = onenode_describe(node, NULL, 0);
    char *text = malloc(length + 1);
    onenode_describe(node, text, length + 1);
    printf("%.*s\n", (int)strcspn(text, ","), text);
    free(text);
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_describe
 * rank 5 */
