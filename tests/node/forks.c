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

#define CHILD(call) FAILS(call, ONENODE_EINVAL, "which is a forked child")
#define CHILD_NULL(call)                                                                           \
    CHECK((call) == NULL && strstr(onenode_message(), "which is a forked child") != NULL)

/* In a child: no function of the parent's objects works, and each says why. */
static void refused(onenode_t *node, onenode_view_t *view, onenode_group_t *group, void *heap)
{
    static const uint64_t key = 1;
    static const uint32_t all[] = { 0 };
    onenode_collective call;
    onenode_mapping_t *mapping;
    onenode_group_t *opened_group;
    onenode_view_t *opened_view;
    onenode_table *table = table_for(1);
    onenode_memory memory;
    onenode_card card;
    uint32_t rank = 0;
    void *there;

    memset(&card, 0, sizeof card);
    memset(&memory, 0, sizeof memory);
    memory.size = sizeof memory;
    memory.source = ONENODE_ALLOC;
    memory.bytes = 4096;
    memset(&call, 0, sizeof call);
    call.size = sizeof call;
    call.operation = ONENODE_BROADCAST;
    call.view = view;
    call.source = call.dest = heap;
    call.bytes = 8;
    CHILD(onenode_get_card(node, &card));
    CHILD(onenode_know(node, &rank, &card));
    CHILD(onenode_rank_of(node, &card, &rank));
    CHILD(onenode_meet(node, "x", 1, 1, 0));
    CHILD(onenode_attach(node, 0, 0));
    CHILD(onenode_detach(node, 1));
    CHILD(onenode_state(node, 0));
    CHILD_NULL(onenode_extra(node, 0));
    CHILD(onenode_region(node, 9, &memory, NULL, NULL));
    CHILD(onenode_region_of(node, heap, NULL, NULL, NULL));
    CHILD(onenode_unregion(node, 2));
    CHILD(onenode_view_open(node, &key, 1, table, &opened_view));
    CHILD_NULL(onenode_resolve(view, heap, 0));
    CHILD_NULL(onenode_own(view, heap, 0));
    CHILD(onenode_map(node, 0, (uintptr_t)heap, 8, &there, &mapping));
    CHILD(onenode_group_open(node, 1, all, 1, &opened_group));
    CHILD(onenode_barrier(group, 0));
    CHILD(onenode_arrive(group));
    CHILD(onenode_arrived(group));
    CHILD(onenode_run(group, &call, 0));
    CHILD(onenode_lock(group, heap, view, 0));
    CHILD(onenode_unlock(group, heap, view));
    CHILD(onenode_wait(node, (uint64_t *)heap, ONENODE_EQ, 1, ONENODE_NO_RANKS, 0));
    free(table);
}

static void mode(uint32_t fork_mode)
{
    static const uint64_t key = 1;
    onenode_config config;
    onenode_t *node;
    onenode_view_t *view;
    onenode_table *table = table_for(1);
    onenode_group_t *group;
    uint32_t all[] = { 0 };
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
    WORKS(onenode_group_open(node, 1, all, 1, &group));
    *heap = 3;

    child = fork();
    if (child == 0) {
        onenode_t *second;
        failures = 0;
        refused(node, view, group, (void *)(uintptr_t)heap);
        /* It can have its own. */
        second = opened(0);
        CHECK(second != NULL && onenode_state(second, 0) == ONENODE_ATTACHED);
        WORKS(onenode_close(second));
        /* Closing leaves alone what is the parent's. */
        WORKS(onenode_group_close(group));
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
    WORKS(onenode_barrier(group, ONENODE_EVER));
    WORKS(onenode_group_close(group));
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
