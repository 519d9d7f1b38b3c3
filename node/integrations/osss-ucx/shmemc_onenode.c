/* OSSS-UCX's fast path between the PEs of one node, over onenode: start, end and collectives. */
#include "shmemc_onenode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIABLES = 0, MOST_HEAPS = 63 };      /* a key, and as many regions as a node has by default */
static const uint64_t ATTACH_NS = 10000000000; /* a PE whose card is known attaches at once */

static onenode_table nobody;                  /* capacity 0 */
onenode_table *shmemc_onenode_table = &nobody;
onenode_table *shmemc_onenode_all = &nobody;

static int me, pes;
static int nheaps;
static onenode_t *node;
static onenode_view_t *view;
static onenode_group_t *world;                /* NULL where some PEs are far */
static void (*make_progress)(void);
static char message[512];

const char *
shmemc_onenode_message(void)
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
progress(void *unused)
{
    (void) unused;
    if (make_progress != NULL)
        make_progress();
    return 0;
}

int
shmemc_onenode_init(int pe, int npes)
{
    onenode_config config = { .size = sizeof(config), .rank = (uint32_t) pe, .file = -1,
                              .progress = progress };
    onenode_memory variables = { .size = sizeof(variables), .source = ONENODE_PROGRAM };

    me = pe;
    pes = npes;
    nheaps = 0;
    if (onenode_open(&config, &node) != ONENODE_OK)
        return fail("onenode cannot open: %s", onenode_message());
    if (onenode_region(node, VARIABLES, &variables, NULL, NULL) != ONENODE_OK) {
        fail("onenode cannot share the program's variables: %s", onenode_message());
        shmemc_onenode_fini();
        return 1;
    }
    return 0;
}

int
shmemc_onenode_heap(size_t bytes, void **start, size_t *got)
{
    onenode_memory heap = { .size = sizeof(heap), .source = ONENODE_ALLOC, .bytes = bytes };
    uint64_t size;

    if (nheaps == MOST_HEAPS)
        return fail("onenode has room for %d symmetric heaps only", MOST_HEAPS);
    if (onenode_region(node, (uint64_t) (nheaps + 1), &heap, start, &size) != ONENODE_OK)
        return fail("onenode cannot make a heap of %zu bytes: %s", bytes, onenode_message());
    nheaps++;
    *got = size;
    return 0;
}

int
shmemc_onenode_card(onenode_card *card)
{
    if (onenode_get_card(node, card) != ONENODE_OK)
        return fail("onenode has no card for PE %d: %s", me, onenode_message());
    return 0;
}

int
shmemc_onenode_know(int pe, const onenode_card *card)
{
    uint32_t rank = (uint32_t) pe;

    if (onenode_know(node, &rank, card) != ONENODE_OK)
        return fail("onenode does not accept the card of PE %d: %s", pe, onenode_message());
    return 0;
}

/* The group of all PEs. */
static int
open_world(void)
{
    uint32_t *ranks = malloc(sizeof(*ranks) * (size_t) pes);
    int ret;

    if (ranks == NULL)
        return fail("no memory for the numbers of %d PEs", pes);
    for (int pe = 0; pe < pes; pe++)
        ranks[pe] = (uint32_t) pe;
    ret = onenode_group_open(node, 0, ranks, (uint32_t) pes, &world);
    free(ranks);
    return ret == ONENODE_OK ? 0 : fail("onenode cannot open a group: %s", onenode_message());
}

int
shmemc_onenode_attach(void (*to_make)(void))
{
    uint64_t keys[MOST_HEAPS + 1];
    size_t bytes = onenode_table_bytes(pes);
    onenode_table *table = calloc(1, bytes);
    uint32_t near;

    if (table == NULL)
        return fail("no memory for a table of %zu bytes", bytes);
    table->capacity = (size_t) pes;
    for (int i = 0; i <= nheaps; i++)
        keys[i] = (uint64_t) i;
    if (onenode_view_open(node, keys, (size_t) nheaps + 1, table, &view) != ONENODE_OK) {
        free(table);
        return fail("onenode cannot open a view of variables and heaps: %s", onenode_message());
    }
    shmemc_onenode_table = table;
    if (onenode_attach_many(node, NULL, (uint32_t) pes, ATTACH_NS, &near) != ONENODE_OK)
        return fail("onenode cannot attach all PEs: %s", onenode_message());
    if (near == (uint32_t) pes) {
        if (open_world() != 0)
            return 1;
        shmemc_onenode_all = table;
    }
    make_progress = to_make;
    return 0;
}

int
shmemc_onenode_fini(void)
{
    onenode_table *table = shmemc_onenode_table;

    shmemc_onenode_table = shmemc_onenode_all = &nobody;
    make_progress = NULL;
    if (world != NULL)
        onenode_group_close(world);
    if (view != NULL)
        onenode_view_close(view);
    if (node != NULL)
        onenode_close(node);
    world = NULL;
    view = NULL;
    node = NULL;
    if (table != &nobody)
        free(table);
    return 0;
}

/* A collective cannot be given back to SHCOLL once it has begun: members would be at different places. */
static void
give_up(const char *what)
{
    fprintf(stderr, "PE %d: %s over onenode: %s\n", me, what, onenode_message());
    abort();
}

bool
shmemc_onenode_sync_all(void)
{
    if (world == NULL)
        return false;
    if (onenode_barrier(world, ONENODE_EVER) != ONENODE_OK)
        give_up("a barrier");
    return true;
}

static bool
run(onenode_collective *collective, const char *what, int start, int log_stride, int size)
{
    if (world == NULL || start != 0 || (log_stride != 0 && size > 1) || size != pes)
        return false;
    collective->size = sizeof(*collective);
    collective->view = view;
    switch (onenode_run(world, collective, ONENODE_EVER)) {
    case ONENODE_OK:
        return true;
    case ONENODE_EINVAL:
    case ONENODE_ENOMAP:
        return false;                   /* nothing has begun: buffers that are not symmetric, say */
    default:
        give_up(what);
        return false;
    }
}

bool
shmemc_onenode_alltoall(void *dest, const void *source, size_t bytes, int start, int log_stride, int size)
{
    onenode_collective all = { .operation = ONENODE_ALLTOALL, .dest = dest, .source = source, .bytes = bytes };
    return run(&all, "an alltoall", start, log_stride, size);
}

bool
shmemc_onenode_fcollect(void *dest, const void *source, size_t bytes, int start, int log_stride, int size)
{
    onenode_collective all = { .operation = ONENODE_ALLGATHER, .dest = dest, .source = source, .bytes = bytes };
    return run(&all, "an fcollect", start, log_stride, size);
}

/* Bytes of an onenode_element. */
static size_t
element_bytes(uint32_t element)
{
    switch (element) {
    case ONENODE_INT8: case ONENODE_UINT8: return 1;
    case ONENODE_INT16: case ONENODE_UINT16: return 2;
    case ONENODE_INT32: case ONENODE_UINT32: case ONENODE_FLOAT: return 4;
    case ONENODE_INT64: case ONENODE_UINT64: case ONENODE_DOUBLE: return 8;
    default: return 0;
    }
}

bool
shmemc_onenode_reduce(void *dest, const void *source, size_t n, uint32_t element,
                      uint32_t reduction, int start, int log_stride, int size)
{
    size_t bytes = n * element_bytes(element);
    onenode_collective all = { .operation = ONENODE_ALLREDUCE, .reduction = reduction, .element = element,
                               .dest = dest, .source = source, .bytes = bytes };
    return element != 0 && run(&all, "a reduction", start, log_stride, size);
}
