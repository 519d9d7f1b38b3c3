/* What a forked child has of a node: no use of it, and its regions as the node was told. Over XPMEM
 * they are its own copies, as is the rest of its memory. */
#include "job.h"
#include <sys/prctl.h>
#include <sys/resource.h>

static int status_of(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void mode(uint32_t fork_mode)
{
    static const uint64_t key = 1;
    onenode_config config;
    onenode_t *node;
    onenode_view_t *view;
    onenode_table *table = table_for(1);
    onenode_card card;
    volatile int *heap, *adopted;
    pid_t child;
    int status;
    struct rlimit no_core = { 0, 0 };

    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.fork = fork_mode;
    config.file = -1;
    WORKS(onenode_open(&config, &node));
    heap = (int *)region(node, key, ONENODE_ALLOC, NULL, 4096);
    adopted = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *adopted = 4;
    region(node, 2, ONENODE_ADOPT, (void *)(uintptr_t)adopted, 4096);
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    *heap = 3;

    child = fork();
    if (child == 0) {
        onenode_t *second;
        failures = 0;
        FAILS(onenode_attach(node, 0, 0), ONENODE_EINVAL, "which is a forked child");
        FAILS(onenode_know(node, &config.rank, &card), ONENODE_EINVAL, "forked child");
        CHECK(onenode_resolve(view, (void *)(uintptr_t)heap, 0) == NULL);
        /* It can have its own. */
        second = opened(0);
        CHECK(second != NULL && onenode_state(second, 0) == ONENODE_ATTACHED);
        WORKS(onenode_close(second));
        /* Closing leaves alone what is the parent's. */
        WORKS(onenode_view_close(view));
        WORKS(onenode_close(node));
        _exit(failures != 0);
    }
    CHECK(status_of(child) == 0);

    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        *heap += 10;
        *adopted += 10;
        _exit(*heap == 13 && *adopted == 14 ? 0 : 1);
    }
    status = status_of(child);
    if (fork_mode == ONENODE_FORK_DROPS) {
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        CHECK(*heap == 3 && *adopted == 4);
    } else {
        int added = is_lent(node) ? 0 : 10;
        CHECK(status == 0 && *heap == 3 + added && *adopted == 4 + added);
    }
    CHECK(onenode_state(node, 0) == ONENODE_ATTACHED);
    CHECK(onenode_at(table, (void *)(uintptr_t)heap, 0) == (void *)(uintptr_t)heap);
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    munmap((void *)(uintptr_t)adopted, 4096);
    free(table);
}

int main(void)
{
    alarm(SECONDS);
    mode(ONENODE_FORK_SHARES);
    mode(ONENODE_FORK_DROPS);
    return failures != 0;
}
