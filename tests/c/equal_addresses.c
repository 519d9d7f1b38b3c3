// pes: 1 2 7
// device: no
/* The symmetric heap lies at the same address on all PEs wherever the system has put their programs, so that a
 * pointer into it means the same everywhere. shmemx_equal_addresses says so. */
#include "check.h"
#include <shmemx.h>

struct node {
    struct node *next;
    long number;
};

static uint64_t own, all[MAX_PES];
static struct node *heads[MAX_PES];

static void check_addresses(int npes, void *block)
{
    own = (uint64_t)(uintptr_t)block;
    shmem_uint64_fcollect(SHMEM_TEAM_WORLD, all, &own, 1);
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(all[pe], own);
}

int main(void)
{
    for (int lifetime = 0; lifetime < 2; lifetime++) {
        shmem_init();
        int me = shmem_my_pe(), npes = shmem_n_pes();
        CHECK_EQ(shmemx_equal_addresses(), 1);
        /* A list of two nodes on each PE, whose head all others get, follows its pointers there. */
        struct node *nodes = shmem_malloc(2 * sizeof *nodes);
        CHECK(nodes);
        check_addresses(npes, nodes);
        nodes[0] = (struct node){&nodes[1], 10 * me};
        nodes[1] = (struct node){NULL, 10 * me + 1};
        struct node *head = nodes;
        for (int pe = 0; pe < npes; pe++)
            shmem_putmem(&heads[me], &head, sizeof head, pe);
        shmem_barrier_all();
        for (int pe = 0; pe < npes; pe++) {
            struct node first, second;
            shmem_getmem(&first, heads[pe], sizeof first, pe);
            CHECK_EQ(first.number, 10 * pe);
            shmem_getmem(&second, first.next, sizeof second, pe);
            CHECK_EQ(second.number, 10 * pe + 1);
            CHECK(second.next == NULL);
        }
        shmem_barrier_all();
        shmem_free(nodes);
        shmem_finalize();
    }
    return 0;
}
