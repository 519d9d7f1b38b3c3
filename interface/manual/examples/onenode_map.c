/* Rank 1 sends an address to rank 0, which reads the memory there. */
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
    int pipes[2];
    if (pipe(pipes) != 0)
        return 1;
    const pid_t child = fork();
    const uint32_t rank = child == 0;
    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    void *start;
    onenode_memory memory = {
        .size = sizeof memory, .source = ONENODE_ALLOC, .bytes = 4096
    };
    check(onenode_region(node, 1, &memory, &start, NULL));
    char *text = start;
    check(onenode_meet(node, &key, sizeof key, 2, ONENODE_EVER));

    uint64_t address = (uintptr_t)&text[100];
    if (rank == 1) {
        snprintf(&text[100], 100, "written by rank 1");
        if (write(pipes[1], &address, sizeof address) < 0)
            return 1;
        sleep(60);
        return 1;
    }
    if (read(pipes[0], &address, sizeof address) != sizeof address)
        return 1;
    onenode_mapping_t *mapping;
    void *there;
    check(onenode_map(node, 1, address, 100, &there, &mapping));
    printf("rank 0 reads: %s\n", (char *)there);
    check(onenode_unmap(mapping));
    check(onenode_close(node));
    kill(child, SIGTERM);
    wait(NULL);
    return 0;
}

/* $ ./onenode_map
 * rank 0 reads: written by rank 1 */
