/* Rank 1 adopts memory that it has filled already, and sends an address to rank 0, which reads the memory there. */
#define _GNU_SOURCE
#include <err.h>
#include <onenode.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int result)
{
    if (result < 0)
        errx(1, "%s", onenode_message());
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
    check(onenode_meet(node, &key, sizeof key, 2, ONENODE_EVER));

    uint64_t address;
    if (rank == 1) {
        char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        snprintf(&text[100], 100, "written by rank 1");
        onenode_memory memory = {
            .size = sizeof memory, .source = ONENODE_ADOPT,
            .start = text, .bytes = 4096
        };
        check(onenode_region(node, 1, &memory, NULL, NULL));
        address = (uintptr_t)&text[100];
        if (write(pipes[1], &address, sizeof address) < 0)
            return 1;
        return sleep(60);
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
