/* Sandia OpenSHMEM's transport between the PEs of one node, over onenode: start and end. */
#include "transport_onenode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROGRAM = 1, HEAP = 2 };             /* keys of the two regions */
static const uint64_t ATTACH_NS = 10000000000; /* a PE whose card is known attaches at once */

static onenode_table nobody;                /* capacity 0 */
onenode_table *shmem_transport_onenode_table = &nobody;

static struct shmem_transport_onenode_job job;
static onenode_t *node;
static onenode_view_t *view;
static char message[512];

const char *
shmem_transport_onenode_message(void)
{
    return message;
}

__attribute__((__format__(__printf__, 1, 2))) static int
fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return 1;
}

static int
open_regions(void)
{
    onenode_config config = { .size = sizeof(config), .rank = (uint32_t) job.my_pe, .file = -1 };
    if (onenode_open(&config, &node) != ONENODE_OK)
        return fail("onenode cannot open: %s", onenode_message());

    onenode_memory program = { .size = sizeof(program), .source = ONENODE_PROGRAM };
    if (onenode_region(node, PROGRAM, &program, NULL, NULL) != ONENODE_OK)
        return fail("onenode cannot share the data segment: %s", onenode_message());

    /* Malloc's pages hold other things, too, and a heap's place in them differs between PEs. */
    if ((uintptr_t) job.heap % (uintptr_t) sysconf(_SC_PAGESIZE) != 0)
        return fail("onenode needs a heap of whole pages, but it starts at %p: unset "
                    "SHMEM_SYMMETRIC_HEAP_USE_MALLOC", job.heap);
    onenode_memory heap = { .size = sizeof(heap), .source = ONENODE_ADOPT,
                            .start = job.heap, .bytes = job.heap_bytes };
    if (onenode_region(node, HEAP, &heap, NULL, NULL) != ONENODE_OK)
        return fail("onenode cannot share the heap of %zu bytes at %p: %s", job.heap_bytes,
                    job.heap, onenode_message());
    return 0;
}

int
shmem_transport_onenode_init(const struct shmem_transport_onenode_job *wanted)
{
    onenode_card card;

    job = *wanted;
    if (open_regions() != 0) {
        shmem_transport_onenode_fini();
        return 1;
    }
    if (onenode_get_card(node, &card) != ONENODE_OK || job.put("onenode", &card, sizeof(card)) != 0) {
        shmem_transport_onenode_fini();
        return fail("PE %d cannot publish its onenode card", job.my_pe);
    }
    return 0;
}

/* Attaches every PE that the runtime takes for one of this node. One that cannot be reached by load and
 * store after all (another PID namespace, say) stays the network's; SHMEM_TEAM_SHARED goes by shmem_ptr and
 * leaves it out. */
static int
attach_peers(void)
{
    for (int pe = 0; pe < job.num_pes; pe++) {
        onenode_card card;
        uint32_t rank = (uint32_t) pe;
        int ret;

        if (pe == job.my_pe || job.node_rank(pe) < 0)
            continue;
        if (job.get(pe, "onenode", &card, sizeof(card)) != 0)
            return fail("PE %d has published no onenode card", pe);
        if (onenode_know(node, &rank, &card) != ONENODE_OK)
            return fail("onenode does not accept the card of PE %d: %s", pe, onenode_message());
        ret = onenode_attach(node, rank, ATTACH_NS);
        if (ret != ONENODE_OK && ret != ONENODE_ENOTHERE)
            return fail("onenode cannot attach PE %d: %s", pe, onenode_message());
    }
    return 0;
}

int
shmem_transport_onenode_startup(void)
{
    static const uint64_t keys[] = { PROGRAM, HEAP };
    size_t bytes = onenode_table_bytes(job.num_pes);
    onenode_table *table = calloc(1, bytes);

    if (table == NULL)
        return fail("no memory for a table of %zu bytes", bytes);
    table->capacity = (size_t) job.num_pes;
    if (onenode_view_open(node, keys, 2, table, &view) != ONENODE_OK) {
        free(table);
        return fail("onenode cannot open a view of data segment and heap: %s", onenode_message());
    }
    shmem_transport_onenode_table = table;
    return attach_peers();
}

int
shmem_transport_onenode_fini(void)
{
    onenode_table *table = shmem_transport_onenode_table;

    shmem_transport_onenode_table = &nobody;
    if (view != NULL)
        onenode_view_close(view);
    if (node != NULL)
        onenode_close(node);
    view = NULL;
    node = NULL;
    if (table != &nobody)
        free(table);
    return 0;
}
