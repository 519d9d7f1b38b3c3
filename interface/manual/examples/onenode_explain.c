/* A program accesses memory between the two regions of a view, whose table is allocated; its handler of SIGSEGV says so. */
#define _GNU_SOURCE
#include <err.h>
#include <onenode.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static onenode_t *node;
static pid_t child;

static void check(int result)
{
    if (result < 0)
        errx(1, "%s", onenode_message());
}

/* Prints what follows the addresses, which differ from run to run. */
static void handler(int number, siginfo_t *info, void *context)
{
    char text[256] = "";
    (void)number, (void)context;
    onenode_explain(node, info->si_addr, text, sizeof text);
    const char *said = strstr(text, "was translated");
    if (said == NULL || write(1, said, 58) < 0 || write(1, "\n", 1) < 0)
        _exit(1);
    kill(child, SIGTERM);
    _exit(0);
}

int main(void)
{
    const pid_t key = getpid();
    child = fork();
    const uint32_t rank = child == 0;

    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    onenode_memory memory = {
        .size = sizeof memory, .source = ONENODE_ALLOC, .bytes = 4096
    };
    const uint64_t keys[] = { 1, 2 };
    void *first, *second;
    check(onenode_region(node, 1, &memory, &first, NULL));
    check(onenode_region(node, 2, &memory, &second, NULL));
    check(onenode_meet(node, &key, sizeof key, 2, ONENODE_EVER));
    if (rank == 1)
        return sleep(60);
    onenode_table *peers = calloc(1, onenode_table_bytes(2));
    peers->capacity = 2;
    onenode_view_t *view;
    check(onenode_view_open(node, keys, 2, peers, &view));
    check(onenode_attach(node, 1, ONENODE_EVER));

    struct sigaction action = { .sa_sigaction = handler };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    char *gap = (char *)(first < second ? first : second) + 4096;
    return *(volatile char *)onenode_at(peers, gap, 1);
}

/* $ ./onenode_explain
 * was translated for rank 1, and is in no region of the view */
