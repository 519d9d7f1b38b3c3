/* partition_pages NODE...: checks that the pages of partition 1 are on these NUMA nodes, in equal parts, whichever PE
 * touches them first. The node `own` is the one on which the PE runs. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <shmemx.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 8 << 20, PAGE = 4096, PAGES = BYTES / PAGE, NODES = 64 };

static int own_node(void)
{
    unsigned cpu, node;
    CHECK_EQ(syscall(SYS_getcpu, &cpu, &node, NULL), 0);
    return (int)node;
}

static void session(int count, char **nodes)
{
    static void *pages[PAGES];
    static int found[PAGES];
    long on[NODES] = {0}, expected[NODES] = {0};
    shmem_init();
    int npes = shmem_n_pes(), next = (shmem_my_pe() + 1) % npes;
    char *block = shmemx_partition_align(PAGE, BYTES, 1);
    CHECK(block != NULL);
    for (int i = 0; i < PAGES; i++)
        shmem_char_p(block + (long)i * PAGE, 'p', next);
    shmem_barrier_all();
    for (int i = 0; i < PAGES; i++) {
        pages[i] = block + (long)i * PAGE;
        CHECK(block[(long)i * PAGE] == 'p');
    }
    /* Moves nothing: tells the nodes. */
    CHECK_EQ(syscall(SYS_move_pages, 0, (long)PAGES, pages, NULL, found, 0), 0);
    for (int i = 0; i < PAGES; i++) {
        CHECK(found[i] >= 0 && found[i] < NODES);
        on[found[i]]++;
    }
    for (int i = 0; i < count; i++)
        expected[strcmp(nodes[i], "own") == 0 ? own_node() : atoi(nodes[i])] = PAGES / count;
    for (int node = 0; node < NODES; node++)
        CHECK_EQ(on[node], expected[node]);
    shmem_barrier_all();
    shmem_finalize();
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    for (int round = 0; round < 2; round++)
        session(argc - 1, argv + 1);
    return 0;
}
