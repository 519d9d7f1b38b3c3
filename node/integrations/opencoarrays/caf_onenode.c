/* OpenCoarrays' fast path between the images of one node, over onenode: memory, teams, arrays, atomics.
 *
 * There is one region for all coarrays. Images allocate and free coarrays of the initial team in the same order,
 * so that each of them finds the same place without asking; one reduction checks that. */
#define _GNU_SOURCE
#include "caf_onenode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEY = 0, LINE = 64, MOST_RANK = 15 };
static const uint64_t ATTACH_NS = 10000000000; /* an image whose card is known attaches at once */

static onenode_table nobody;                   /* capacity 0 */
onenode_table *caf_onenode_table = &nobody;
onenode_table *caf_onenode_all = &nobody;
struct caf_onenode_team *caf_onenode_team;
int caf_onenode_me = -1;

/* A coarray in the region. */
struct block {
    size_t place, bytes;
    struct block *next;                        /* in the order of places */
};

static struct caf_onenode_job job;
static onenode_t *node;
static onenode_view_t *view;
static onenode_table *table;                   /* becomes caf_onenode_table when all images are ready */
static char *region;
static size_t region_bytes;                    /* 0: no coarray is allocated here */
static struct block *blocks;
static bool has_said_full;
static char message[512];

__attribute__((__format__(__printf__, 1, 2))) static bool
fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return false;
}

static void
say(void)
{
    fprintf(stderr, "onenode: image %d: %s; coarrays stay MPI's\n", job.me + 1, message);
}

/* Whether all images are well. If not, the first that is not says why. */
static bool
all_are(bool well)
{
    uint64_t unwell = (uint64_t) (well ? job.images : job.me);

    job.least(&unwell, 1);
    if (unwell == (uint64_t) job.me)
        say();
    return unwell == (uint64_t) job.images;
}

/* A share of the machine's memory, of which pages are made as they are touched. */
static uint64_t
share(void)
{
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

    return (uint64_t) sysconf(_SC_PHYS_PAGES) / (uint64_t) job.images * page;
}

static bool
open_region(onenode_card *card)
{
    onenode_config config = { .size = sizeof(config), .rank = (uint32_t) job.me, .file = -1, .regions = 1 };
    onenode_memory memory = { .size = sizeof(memory), .source = ONENODE_ALLOC, .bytes = share() };
    static const uint64_t key = KEY;
    uint64_t bytes;
    void *start;

    if (onenode_open(&config, &node) != ONENODE_OK)
        return fail("onenode cannot open: %s", onenode_message());
    if (onenode_region(node, KEY, &memory, &start, &bytes) != ONENODE_OK)
        return fail("onenode cannot make %llu bytes for coarrays: %s", (unsigned long long) memory.bytes,
                    onenode_message());
    table = calloc(1, onenode_table_bytes(job.images));
    if (table == NULL)
        return fail("no memory for a table of %d images", job.images);
    table->capacity = (size_t) job.images;
    if (onenode_view_open(node, &key, 1, table, &view) != ONENODE_OK)
        return fail("onenode cannot open a view of the coarrays: %s", onenode_message());
    if (onenode_get_card(node, card) != ONENODE_OK)
        return fail("onenode has no card: %s", onenode_message());
    region = start;
    region_bytes = bytes;
    return true;
}

/* How many images can be reached by load and store; 0 after a failure. */
static uint32_t
attach_images(const onenode_card *cards)
{
    uint32_t near;

    for (int image = 0; image < job.images; image++) {
        uint32_t rank = (uint32_t) image;

        if (image != job.me && onenode_know(node, &rank, &cards[image]) != ONENODE_OK) {
            fail("onenode does not accept the card of image %d: %s", image + 1, onenode_message());
            return 0;
        }
    }
    if (onenode_attach_many(node, NULL, (uint32_t) job.images, ATTACH_NS, &near) != ONENODE_OK) {
        fail("onenode cannot attach the images, which it counts from 0: %s", onenode_message());
        return 0;
    }
    return near;
}

bool
caf_onenode_start(const struct caf_onenode_job *given)
{
    onenode_card card, *cards;
    uint64_t near[2];

    job = *given;
    if (job.images < 2)
        return false;
    cards = malloc(sizeof(*cards) * (size_t) job.images);
    if (!all_are(cards != NULL ? open_region(&card) : fail("no memory for the cards of %d images", job.images))) {
        free(cards);
        caf_onenode_stop();
        return false;
    }
    job.gather(&card, cards, (int) sizeof(card));
    near[0] = attach_images(cards);
    near[1] = ~near[0];
    free(cards);
    if (!all_are(near[0] != 0)) {
        caf_onenode_stop();
        return false;
    }
    job.least(near, 2);
    if (~near[1] < 2) {                         /* each image is alone on its node */
        caf_onenode_stop();
        return false;
    }
    caf_onenode_me = job.me;
    caf_onenode_table = table;
    if (near[0] == (uint64_t) job.images)
        caf_onenode_all = table;
    return true;
}

void
caf_onenode_stop(void)
{
    while (caf_onenode_team != NULL)
        caf_onenode_team_end();
    caf_onenode_table = caf_onenode_all = &nobody;
    caf_onenode_me = -1;
    if (view != NULL)
        onenode_view_close(view);
    if (node != NULL)
        onenode_close(node);
    free(table);
    while (blocks != NULL) {
        struct block *block = blocks;
        blocks = block->next;
        free(block);
    }
    view = NULL;
    node = NULL;
    table = NULL;
    region_bytes = 0;
    has_said_full = false;
}

/* ---- Memory ---- */

static size_t
round_up(size_t number, size_t to)
{
    return (number + to - 1) & ~(to - 1);
}

/* Takes the first room that is large enough. What has a page or more begins a page and has whole ones, so that they go back
 * to the system. */
static struct block *
take(size_t bytes)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE), align = bytes < page ? LINE : page, place = 0;
    struct block *block, **link = &blocks;

    if (bytes > region_bytes)
        return NULL;
    bytes = round_up(bytes + (bytes == 0), align);
    while (*link != NULL && place + bytes > (*link)->place) {
        place = round_up((*link)->place + (*link)->bytes, align);
        link = &(*link)->next;
    }
    if (place > region_bytes || bytes > region_bytes - place)
        return NULL;
    block = malloc(sizeof(*block));
    if (block != NULL) {
        *block = (struct block) { .place = place, .bytes = bytes, .next = *link };
        *link = block;
    }
    return block;
}

void *
caf_onenode_alloc(size_t bytes)
{
    struct block *block;
    uint64_t place[2];

    if (caf_onenode_table == &nobody || caf_onenode_team != NULL)
        return NULL;
    block = take(bytes);
    place[0] = block != NULL ? block->place : UINT64_MAX;
    place[1] = ~place[0];
    job.least(place, 2);
    if (place[0] == ~place[1] && block != NULL)
        return region + block->place;
    if (block != NULL)
        caf_onenode_free(region + block->place);
    if (!has_said_full && job.me == 0) {
        fail("there is no room for a coarray of %zu bytes among %zu bytes, or not on all images", bytes, region_bytes);
        say();
    }
    has_said_full = true;
    return NULL;
}

bool
caf_onenode_free(void *start)
{
    struct block *block, **link = &blocks;

    while (*link != NULL && region + (*link)->place != (char *) start)
        link = &(*link)->next;
    block = *link;
    if (block == NULL)
        return false;
    if (block->bytes >= (size_t) sysconf(_SC_PAGESIZE))
        madvise(start, block->bytes, MADV_REMOVE);
    *link = block->next;
    free(block);
    return true;
}

/* ---- Teams ---- */

void
caf_onenode_team_begin(int images)
{
    struct caf_onenode_team *team;

    if (caf_onenode_table == &nobody)
        return;
    team = malloc(sizeof(*team) + sizeof(team->rank[0]) * (size_t) images);
    if (team == NULL) {                         /* to leave it out would mix two kinds of atomics */
        fprintf(stderr, "onenode: image %d: no memory for a team of %d images\n", job.me + 1, images);
        abort();
    }
    team->outer = caf_onenode_team;
    team->images = images;
    job.gather(&job.me, team->rank, (int) sizeof(job.me));
    caf_onenode_team = team;
}

void
caf_onenode_team_end(void)
{
    struct caf_onenode_team *team = caf_onenode_team;

    if (team != NULL) {
        caf_onenode_team = team->outer;
        free(team);
    }
}

/* ---- Arrays ---- */

/* A dimension that both sides have. */
struct loop {
    ptrdiff_t n, to, from;                      /* elements, and their distance in bytes */
};

/* The dimensions with more than one element, those merged that follow each other without a gap on both sides.
 * Returns how many, -1 if the shapes differ, or -2 if there are no elements. */
static int
loops(const struct caf_onenode_array *to, const struct caf_onenode_array *from, struct loop *loop)
{
    const ptrdiff_t *to_dim = to->dim, *from_dim = from->dim;
    ptrdiff_t to_element = (ptrdiff_t) to->element, from_element = (ptrdiff_t) from->element;
    bool none = false;
    int n = 0;

    if ((from->rank != 0 && from->rank != to->rank) || to->rank > MOST_RANK)
        return -1;
    for (int dim = 0; dim < to->rank; dim++, to_dim += 3, from_dim += 3) {
        struct loop next = { .n = to_dim[2] - to_dim[1] + 1, .to = to_dim[0] * to_element };

        next.n = next.n < 0 ? 0 : next.n;
        if (from->rank != 0) {
            ptrdiff_t extent = from_dim[2] - from_dim[1] + 1;
            if ((extent < 0 ? 0 : extent) != next.n)
                return -1;
            next.from = from_dim[0] * from_element;
        }
        none |= next.n == 0;
        if (next.n == 1)
            continue;
        if (n > 0 && next.to == loop[n - 1].to * loop[n - 1].n && next.from == loop[n - 1].from * loop[n - 1].n)
            loop[n - 1].n *= next.n;
        else
            loop[n++] = next;
    }
    return none ? -2 : n;
}

/* One element of characters, cut or filled with blanks. */
static void
assign_characters(char *to, size_t to_bytes, const char *from, size_t from_bytes, int kind)
{
    static const uint32_t wide = ' ';
    size_t both = to_bytes < from_bytes ? to_bytes : from_bytes;

    caf_onenode_copy(to, from, both);
    if (kind == 1)
        memset(to + both, ' ', to_bytes - both);
    else
        for (; both + sizeof(wide) <= to_bytes; both += sizeof(wide))
            memcpy(to + both, &wide, sizeof(wide));
}

/* The innermost dimension. */
static void
assign_row(const struct caf_onenode_array *to, const struct caf_onenode_array *from, struct loop row, char *to_start,
           const char *from_start, int blank)
{
    if (to->element != from->element)
        for (ptrdiff_t i = 0; i < row.n; i++)
            assign_characters(to_start + i * row.to, to->element, from_start + i * row.from, from->element, blank);
    else if (row.to == (ptrdiff_t) to->element && row.from == row.to)
        caf_onenode_copy(to_start, from_start, to->element * (size_t) row.n);
    else
        onenode_copy_strided(to_start, row.to, from_start, row.from, to->element, (size_t) row.n);
}

bool
caf_onenode_assign_arrays(const struct caf_onenode_array *to, const struct caf_onenode_array *from, int blank)
{
    int to_rank = caf_onenode_rank(to->image), from_rank = caf_onenode_rank(from->image), n;
    char *to_start = to->image == 0 ? to->start : caf_onenode_at(to->start, to_rank);
    const char *from_start = from->image == 0 ? from->start : caf_onenode_at(from->start, from_rank);
    struct loop loop[MOST_RANK];
    ptrdiff_t at[MOST_RANK] = { 0 };
    int dim;

    if (to_start == NULL || from_start == NULL || to_rank == from_rank ||
        (to->element != from->element && blank != 1 && blank != 4))
        return false;
    n = loops(to, from, loop);
    if (n < 0)
        return n != -1;
    if (n == 0)
        loop[n++] = (struct loop) { .n = 1, .to = (ptrdiff_t) to->element, .from = (ptrdiff_t) to->element };
    do {
        assign_row(to, from, loop[0], to_start, from_start, blank);
        for (dim = 1; dim < n; dim++) {
            to_start += loop[dim].to;
            from_start += loop[dim].from;
            if (++at[dim] < loop[dim].n)
                break;
            to_start -= loop[dim].to * loop[dim].n;
            from_start -= loop[dim].from * loop[dim].n;
            at[dim] = 0;
        }
    } while (dim < n);
    return true;
}

/* ---- Atomics ---- */

static void *
atomic_at(void *own, int image)
{
    return onenode_at(caf_onenode_all, own, (size_t) (unsigned) caf_onenode_rank(image));
}

/* The functions for numbers of a type. */
#define ATOMICS(type)                                                                                   \
    static bool atomic_##type(int operation, type *there, const void *operand, void *old)               \
    {                                                                                                   \
        type value = 0, before;                                                                         \
        if (operand != NULL)                                                                            \
            memcpy(&value, operand, sizeof(value));                                                     \
        switch (operation) {                                                                            \
        case CAF_ONENODE_ADD: before = __atomic_fetch_add(there, value, __ATOMIC_SEQ_CST); break;       \
        case CAF_ONENODE_AND: before = __atomic_fetch_and(there, value, __ATOMIC_SEQ_CST); break;       \
        case CAF_ONENODE_OR: before = __atomic_fetch_or(there, value, __ATOMIC_SEQ_CST); break;         \
        case CAF_ONENODE_XOR: before = __atomic_fetch_xor(there, value, __ATOMIC_SEQ_CST); break;       \
        case CAF_ONENODE_DEFINE: __atomic_store_n(there, value, __ATOMIC_SEQ_CST); return true;         \
        case CAF_ONENODE_REF: before = __atomic_load_n(there, __ATOMIC_SEQ_CST); break;                 \
        default: return false;                                                                          \
        }                                                                                               \
        if (old != NULL)                                                                                \
            memcpy(old, &before, sizeof(before));                                                       \
        return true;                                                                                    \
    }                                                                                                   \
    static bool cas_##type(type *there, void *old, const void *compare, const void *operand)            \
    {                                                                                                   \
        type value, before;                                                                             \
        memcpy(&value, operand, sizeof(value));                                                         \
        memcpy(&before, compare, sizeof(before));                                                       \
        __atomic_compare_exchange_n(there, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
        memcpy(old, &before, sizeof(before));                                                           \
        return true;                                                                                    \
    }

ATOMICS(uint32_t)
ATOMICS(uint64_t)

bool
caf_onenode_atomic(int operation, void *own, int image, const void *value, void *old, int kind)
{
    void *there = atomic_at(own, image);

    if (there == NULL)
        return false;
    if (kind == 4)
        return atomic_uint32_t(operation, there, value, old);
    return kind == 8 && atomic_uint64_t(operation, there, value, old);
}

bool
caf_onenode_cas(void *own, int image, void *old, const void *compare, const void *value, int kind)
{
    void *there = atomic_at(own, image);

    if (there == NULL)
        return false;
    if (kind == 4)
        return cas_uint32_t(there, old, compare, value);
    return kind == 8 && cas_uint64_t(there, old, compare, value);
}
