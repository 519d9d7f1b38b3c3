/* Every error there is, and what is said: the function's name, what was wrong, what was expected. */
#include "job.h"
#include <fcntl.h>
#include <sys/resource.h>

enum { A = 1, B = 2, MS = 1000000 };

static onenode_config settings(uint32_t rank)
{
    onenode_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = rank;
    config.file = -1;
    return config;
}

static onenode_memory memory(uint32_t source, uint64_t bytes)
{
    onenode_memory wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.size = sizeof wanted;
    wanted.source = source;
    wanted.bytes = bytes;
    return wanted;
}

static void opening(void)
{
    onenode_t *node = (onenode_t *)8;
    onenode_config good = settings(0), bad;
    struct { onenode_config config; uint64_t more; } later;
    struct rlimit limit, none;

    FAILS(onenode_open(NULL, &node), ONENODE_EINVAL, "onenode_open: config = NULL: expected");
    FAILS(onenode_open(&good, NULL), ONENODE_EINVAL, "onenode_open: node = NULL");
    bad = good, bad.size = 8;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "whose size is 8: expected size = sizeof(onenode_config)");
    bad = good, bad.backend = 9;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "backend = 9: expected 0 (Auto) or 1 (Memfd) or 2 (Xpmem)");
    bad = good, bad.fork = 9;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "fork = 9");
    bad = good, bad.crowd = 9;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "crowd = 9");
    bad = good, bad.regions = UINT32_MAX;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "regions = 4294967295: expected at most");
    bad = good, bad.extra = UINT64_MAX;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "extra = 18446744073709551615");
    bad = good, bad.zero = 1;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "zero = 1: expected 0");
    bad = good, bad.file = 987;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "file = 987: expected an open descriptor");
    bad = good, bad.file = 0, bad.offset = 5;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "offset");
    bad = good, bad.file = open("/dev/null", O_RDWR), bad.stride = UINT64_C(1) << 42;
    FAILS(onenode_open(&bad, &node), ONENODE_EINVAL, "file = a file that can shrink");
    close(bad.file);
    later.config = good, later.config.size = sizeof later, later.more = 1;
    FAILS(onenode_open(&later.config, &node), ONENODE_EINVAL, "does not know");
    CHECK(node == (onenode_t *)8);

    if (access("/dev/xpmem", F_OK) != 0) {
        bad = good, bad.backend = ONENODE_XPMEM;
        FAILS(onenode_open(&bad, &node), ONENODE_ENOWAY, "xpmem");
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit, none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    FAILS(onenode_open(&good, &node), ONENODE_ESYS, "onenode_open: ");
    CHECK(strstr(onenode_message(), "Too many open files") != NULL);
    setrlimit(RLIMIT_NOFILE, &limit);
    CHECK(node == (onenode_t *)8);

    /* A later version's record whose new fields are 0 is as good. */
    later.more = 0;
    WORKS(onenode_open(&later.config, &node));
    WORKS(onenode_close(node));
    FAILS(onenode_close(NULL), ONENODE_EINVAL, "onenode_close: node = NULL");
}

static void regions(void)
{
    static char elsewhere[2 * 4096] __attribute__((aligned(4096)));
    onenode_t *node = opened(0);
    onenode_memory bad = memory(ONENODE_ALLOC, 4096);
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t bytes = 77;

    FAILS(onenode_region(node, A, NULL, NULL, NULL), ONENODE_EINVAL, "onenode_region: memory = NULL");
    FAILS(onenode_region(NULL, A, &bad, NULL, NULL), ONENODE_EINVAL, "onenode_region: node = NULL");
    bad.size = 4;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "sizeof(onenode_memory)");
    bad = memory(9, 4096);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "memory.source = 9: expected 1 (Alloc)");
    bad = memory(ONENODE_ALLOC, 0);
    FAILS(onenode_region(node, A, &bad, NULL, &bytes), ONENODE_EINVAL, "bytes = 0");
    CHECK(bytes == 77);
    bad = memory(ONENODE_ALLOC, UINT64_MAX);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "bytes = 18446744073709551615");
    bad = memory(ONENODE_ALLOC, 4096), bad.align = 3;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "align = 3: expected a power of two");
    bad = memory(ONENODE_ALLOC, 4096), bad.pages = 3;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "pages = 3: expected 0, 1, or the bytes of a huge page");
    bad.pages = 4096;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "pages = 4096");
    bad = memory(ONENODE_PROGRAM, 4096);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "memory.bytes = 4096: expected 0, as memory.source is Program");
    bad = memory(ONENODE_ADOPT, 4096);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "4096 bytes at 0x0");
    bad.start = elsewhere + 16;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "the start of a page");
    if (!is_lent(node)) {
        bad.start = shared;
        FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "onenode_region: ");
    }
    bad = memory(ONENODE_FILE, 4096), bad.start = shared, bad.fd = 987;
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "memory.fd = 987");
    bad.fd = open("/dev/null", O_RDWR);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "F_SEAL_SHRINK");
    close(bad.fd);
    if (!is_lent(node)) {
        bad = memory(ONENODE_EXPORT, 4096), bad.start = elsewhere;
        FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_ENOWAY,
              "cannot share memory that was made elsewhere");
    }
    region(node, A, ONENODE_ALLOC, NULL, 4096);
    bad = memory(ONENODE_ALLOC, 4096);
    FAILS(onenode_region(node, A, &bad, NULL, NULL), ONENODE_EINVAL, "key = 0x1: expected a key that no region has");
    FAILS(onenode_unregion(node, B), ONENODE_EINVAL, "onenode_unregion: key = 0x2: expected the key of a region");
    WORKS(onenode_close(node));
    munmap(shared, 4096);

    /* No more than there is room for; then one less again. */
    {
        onenode_config config = settings(0);
        config.regions = 2;
        WORKS(onenode_open(&config, &node));
        region(node, A, ONENODE_ALLOC, NULL, 4096);
        region(node, B, ONENODE_ALLOC, NULL, 4096);
        FAILS(onenode_region(node, 3, &bad, NULL, NULL), ONENODE_ENOWAY, "2");
        WORKS(onenode_unregion(node, B));
        region(node, 3, ONENODE_ALLOC, NULL, 4096);
        WORKS(onenode_close(node));
    }
}

static void views(void)
{
    onenode_t *node = opened(1);
    onenode_view_t *view = (onenode_view_t *)8, *second;
    onenode_table *table = table_for(4);
    const uint64_t keys[] = { A, A, B };
    char *heap = (char *)region(node, A, ONENODE_ALLOC, NULL, 4096);
    onenode_memory far = memory(ONENODE_ALLOC, 4096);

    FAILS(onenode_view_open(node, keys, 0, table, &view), ONENODE_EINVAL, "keys = none");
    FAILS(onenode_view_open(node, keys, 2, table, &view), ONENODE_EINVAL, "keys = 0x1 and 0x1");
    FAILS(onenode_view_open(node, keys, 3, table, &view), ONENODE_EINVAL, "key = 0x2");
    FAILS(onenode_view_open(node, NULL, 1, table, &view), ONENODE_EINVAL, "keys = NULL");
    FAILS(onenode_view_open(node, keys, 1, NULL, &view), ONENODE_EINVAL, "table = NULL");
    FAILS(onenode_view_open(node, keys, 1, (onenode_table *)(void *)((char *)table + 4), &view),
          ONENODE_EINVAL, "table = 0x");
    FAILS(onenode_view_open(node, keys, 1, table, NULL), ONENODE_EINVAL, "view = NULL");
    table->capacity = SIZE_MAX;
    FAILS(onenode_view_open(node, keys, 1, table, &view), ONENODE_EINVAL, "table.capacity = 18446744073709551615: expected");
    table->capacity = 4;
    CHECK(view == (onenode_view_t *)8 && table->origin == 0);
    WORKS(onenode_view_open(node, keys, 1, table, &view));
    FAILS(onenode_view_open(node, keys, 1, table, &second), ONENODE_EINVAL, "one with origin 0x");
    FAILS(onenode_unregion(node, A), ONENODE_EINVAL, "close the view first");
    CHECK(onenode_resolve(NULL, heap, 1) == NULL && strstr(onenode_message(), "view = NULL") != NULL);
    CHECK(onenode_resolve(view, heap + 4096, 1) == NULL);
    CHECK(onenode_own(view, heap + 4096, 1) == NULL);
    CHECK(onenode_resolve(view, heap, 1) == heap && onenode_own(view, heap, 1) == heap);
    CHECK(onenode_resolve(view, heap, 2) == NULL);
    CHECK(strstr(onenode_message(), "rank 2 is not known: its card has not been given") != NULL);
    WORKS(onenode_view_close(view));
    FAILS(onenode_view_close(NULL), ONENODE_EINVAL, "onenode_view_close: view = NULL");

    /* Too far apart for one view. */
    far.start = (void *)((uintptr_t)heap > UINT64_C(0x300000000000) ? UINT64_C(0x100000000000)
                                                                   : UINT64_C(0x500000000000));
    WORKS(onenode_region(node, B, &far, NULL, NULL));
    FAILS(onenode_view_open(node, keys + 1, 2, table, &view), ONENODE_ENOWAY, "open two views");
    WORKS(onenode_close(node));
    free(table);
}

static int stop(void *arg)
{
    return ++*(int *)arg == 5;
}

/* Rank 0 has all kinds of trouble with rank 1, which is well but for its region B. */
static void peers(void)
{
    onenode_config config = settings((uint32_t)me);
    onenode_t *node;
    onenode_view_t *view;
    onenode_table *table = table_for(2);
    const uint64_t keys[] = { A, B };
    onenode_card own, cards[2], other;
    uint32_t rank = 1, both[] = { 1, 0 }, near = 77;
    int turns = 0;
    char *heap;

    config.extra = 64;
    config.progress = stop;
    config.progress_arg = &turns;
    WORKS(onenode_open(&config, &node));
    heap = (char *)region(node, A, ONENODE_ALLOC, NULL, 8192);
    region(node, B, ONENODE_ALLOC, NULL, me == 0 ? 4096 : 8192);
    FAILS(onenode_get_card(node, NULL), ONENODE_EINVAL, "onenode_get_card: card = NULL");
    WORKS(onenode_get_card(node, &own));
    exchange(&own, sizeof own, cards);
    if (me == 1) {
        meet();
        WORKS(onenode_close(node));
        meet();
        free(table);
        return;
    }
    FAILS(onenode_attach(node, 1, 0), ONENODE_ENOCARD, "onenode_attach: rank 1 is not known");
    FAILS(onenode_attach_many(node, NULL, 2, 0, &near), ONENODE_ENOCARD, "onenode_attach_many: rank 1 is not known");
    CHECK(near == 77 && onenode_state(node, 1) == ONENODE_UNKNOWN);
    CHECK(onenode_extra(node, 1) == NULL && strstr(onenode_message(), "onenode_extra: rank 1 is not known"));
    FAILS(onenode_know(node, NULL, &cards[1]), ONENODE_EINVAL, "rank = NULL");
    FAILS(onenode_know(node, &rank, NULL), ONENODE_EINVAL, "card = NULL");
    memset(&other, 0, sizeof other);
    FAILS(onenode_know(node, &rank, &other), ONENODE_EINVAL, "expected one that onenode has made");
    other = cards[1], other.word[0] += UINT64_C(1) << 32;
    FAILS(onenode_know(node, &rank, &other), ONENODE_EVERSION, "the card is of version 2.0, this library's is 1.0");

    other = cards[1], other.word[1]++; /* another start of the system */
    WORKS(onenode_know(node, &rank, &other));
    CHECK(onenode_state(node, 1) == ONENODE_ELSEWHERE);
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_ENOTHERE, "it is on another machine");
    other = cards[1], other.word[4]++; /* another PID namespace */
    WORKS(onenode_know(node, &rank, &other));
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_ENOTHERE, "PID namespace");
    other = cards[1], other.word[4] += UINT64_C(1) << 32;
    WORKS(onenode_know(node, &rank, &other));
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_ENOTHERE, "another user");
    FAILS(onenode_attach_many(node, both, 2, ONENODE_EVER, (uint32_t *)((char *)&near + 1)), ONENODE_EINVAL, "expected a multiple of 4");
    WORKS(onenode_attach_many(node, both, 2, ONENODE_EVER, &near));
    CHECK(near == 1);
    WORKS(onenode_attach_many(node, both, 1, ONENODE_EVER, &near));
    CHECK(near == 0);

    WORKS(onenode_know(node, &rank, &cards[1]));
    WORKS(onenode_attach_many(node, both, 2, ONENODE_EVER, NULL));
    CHECK(onenode_state(node, 1) == ONENODE_ATTACHED);
    CHECK(onenode_extra(node, 1) != NULL);
    WORKS(onenode_view_open(node, keys, 2, table, &view));
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_EUNLIKE, "its region 0x2 has 8192 bytes, here it has 4096");
    CHECK(onenode_resolve(view, heap, 1) == NULL && strstr(onenode_message(), "8192 bytes") != NULL);
    WORKS(onenode_view_close(view));
    FAILS(onenode_detach(node, 0), ONENODE_EINVAL, "rank = 0: expected another one");
    FAILS(onenode_detach(node, 7), ONENODE_ENOCARD, "rank 7");

    /* It has no such region yet: time is up, or progress ends the wait. */
    region(node, 3, ONENODE_ALLOC, NULL, 4096);
    {
        const uint64_t third = 3;
        WORKS(onenode_view_open(node, &third, 1, table, &view));
    }
    turns = 1000;
    FAILS(onenode_attach(node, 1, 5 * MS), ONENODE_ETIME, "onenode_attach: the time limit has passed");
    CHECK(turns > 1000);
    /* The first failure ends it. */
    both[1] = 7;
    FAILS(onenode_attach_many(node, both, 2, 5 * MS, &near), ONENODE_ETIME, "onenode_attach_many: the time limit has passed");
    CHECK(near == 0);
    turns = 0;
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_ESTOPPED, "progress function has ended the wait");
    CHECK(turns == 5);

    /* It leaves, and is not waited for. */
    meet();
    meet();
    CHECK(onenode_state(node, 1) == ONENODE_LEFT);
    FAILS(onenode_attach(node, 1, ONENODE_EVER), ONENODE_ELEFT, "rank 1 has closed its node");
    WORKS(onenode_view_close(view));
    WORKS(onenode_close(node));
    free(table);
}

int main(void)
{
    opening();
    regions();
    views();
    run(2, 0, peers);
    return failures != 0;
}
