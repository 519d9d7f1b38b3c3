/* The sources of memory, each seen by a peer: new memory with every kind of page, adopted memory with
 * all that it held, the data segment, a file's mapping, and what lies about their ends. */
#include "job.h"
#include <fcntl.h>

enum { PAGE = 4096, BYTES = 5 * PAGE };

static char in_data[3 * PAGE] = "data";
static long in_bss;

/* Makes a region of each kind under key 1 and lets the other rank read and write it. */
static void seen(onenode_t *node, const onenode_memory *memory, uint64_t expected)
{
    static const uint64_t key = 1;
    onenode_table *table = table_for(2);
    onenode_view_t *view;
    char *start = NULL, *there;
    uint64_t bytes = 0;

    WORKS(onenode_region(node, key, memory, (void **)&start, &bytes));
    CHECK(bytes == expected);
    start[0] = (char)('a' + me);
    start[bytes - 1] = (char)('A' + me);
    meet();
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    there = (char *)ONENODE_AT(table, view, start, (size_t)!me);
    if (there == NULL) {
        fprintf(stderr, "source %u: %s\n", memory->source, onenode_message());
        exit(1);
    }
    CHECK(there[0] == 'a' + !me && there[bytes - 1] == 'A' + !me);
    CHECK(onenode_at(table, start + bytes - 1, (size_t)!me) == there + bytes - 1);
    CHECK(onenode_at(table, start + bytes, (size_t)!me) == NULL);
    CHECK(onenode_at(table, start - 1, (size_t)!me) == NULL);
    meet();
    there[bytes / 2] = (char)('m' + me);
    meet();
    CHECK(start[bytes / 2] == 'm' + !me);
    WORKS(onenode_view_close(view));
    meet();
    WORKS(onenode_unregion(node, key));
    meet();
    free(table);
}

static onenode_memory of(uint32_t source, void *start, uint64_t bytes)
{
    onenode_memory memory;
    memset(&memory, 0, sizeof memory);
    memory.size = sizeof memory;
    memory.source = source;
    memory.start = start;
    memory.bytes = bytes;
    return memory;
}

static void allocated(onenode_t *node)
{
    static const uint64_t aligns[] = { 0, 1, 4096, 1 << 16, 1 << 21, 1 << 25 };
    onenode_memory memory = of(ONENODE_ALLOC, NULL, BYTES - 5);
    for (int i = 0; i < 6; i++) {
        void *start;
        uint64_t align = aligns[i] == 0 ? 1 << 21 : aligns[i];
        memory.align = aligns[i];
        WORKS(onenode_region(node, 77, &memory, &start, NULL));
        CHECK((uintptr_t)start % align == 0);
        for (int at = 0; at < BYTES; at++)
            if (((char *)start)[at] != 0)
                failures++;
        WORKS(onenode_unregion(node, 77));
        seen(node, &memory, BYTES);
    }
    memory.align = 0;
    /* Where the system makes no huge pages, that is said. */
    memory.pages = 1;
    if (onenode_region(node, 77, &memory, NULL, NULL) == ONENODE_OK) {
        WORKS(onenode_unregion(node, 77));
        seen(node, &memory, BYTES);
    } else {
        FAILS(onenode_region(node, 77, &memory, NULL, NULL), ONENODE_ENOWAY, "transparent_hugepage");
    }
    memory.pages = 12345;
    CHECK(onenode_region(node, 77, &memory, NULL, NULL) < 0);
    /* At a wish, where nothing else is. */
    memory.pages = 0;
    memory.start = (void *)UINT64_C(0x250000000000);
    {
        void *start;
        WORKS(onenode_region(node, 77, &memory, &start, NULL));
        CHECK(start == memory.start);
        WORKS(onenode_unregion(node, 77));
    }
    seen(node, &memory, BYTES);
}

static void adopted(onenode_t *node)
{
    /* In two processes at different addresses, and with pages that nobody has touched. */
    char *shift = (char *)mmap(NULL, (size_t)(1 + me) * 7 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *heap = (char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    onenode_memory memory = of(ONENODE_ADOPT, heap, BYTES - 100);
    memset(heap + 2 * PAGE, 'x' + me, PAGE);
    seen(node, &memory, BYTES);
    CHECK(heap[2 * PAGE] == 'x' + me && heap[3 * PAGE - 1] == 'x' + me && heap[PAGE] == 0);
    /* It stays what it was, can be adopted again, and by a second node, too. Code in it still runs. */
#ifdef __x86_64__
    memcpy(heap + PAGE, "\xb8\x2a\0\0\0\xc3", 6);
#endif
    CHECK(mprotect(heap + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    seen(node, &memory, BYTES);
#ifdef __x86_64__
    CHECK(((int (*)(void))(size_t)(heap + PAGE))() == 42);
#endif
    munmap(heap, BYTES);
    munmap(shift, (size_t)(1 + me) * 7 * PAGE);
}

/* Memory that the client takes away while it is a region, and after. */
static void taken_away(onenode_t *node)
{
    static const uint64_t key = 21;
    char *memory = (char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    onenode_memory adopted = of(ONENODE_ADOPT, memory, BYTES), part = of(ONENODE_ADOPT, memory + PAGE, PAGE);
    onenode_table *table = table_for(2);
    onenode_view_t *view;

    strcpy(memory, "old");
    WORKS(onenode_region(node, key, &adopted, NULL, NULL));
    FAILS(onenode_region(node, 22, &adopted, NULL, NULL), ONENODE_EINVAL, "region 0x15 has");
    FAILS(onenode_region(node, 22, &part, NULL, NULL), ONENODE_EINVAL, "region 0x15 has");
    /* Other memory in its place, without a word. */
    munmap(memory, BYTES);
    CHECK(mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
    FAILS(onenode_region(node, 22, &adopted, NULL, NULL), ONENODE_EINVAL, "withdraw a region before");
    if (access("/dev/xpmem", R_OK | W_OK) != 0)
        FAILS(onenode_view_open(node, &key, 1, table, &view), ONENODE_EINVAL, "it was unmapped, moved");
    WORKS(onenode_unregion(node, key));
    memset(memory, 'n', BYTES);
    seen(node, &adopted, BYTES);
    CHECK(memory[1] == 'n');
    /* Withdrawn by `seen`, so it may go; then what comes there is a region like any other. */
    munmap(memory, BYTES);
    CHECK(mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
    seen(node, &adopted, BYTES);
    CHECK(memory[1] == 0);
    munmap(memory, BYTES);
    free(table);
}

/* The linker's own data is in this region, too: only what the program has is written to. */
static void program(onenode_t *node)
{
    static const uint64_t key = 9;
    onenode_table *table = table_for(2);
    onenode_view_t *view;
    onenode_memory memory = of(ONENODE_PROGRAM, NULL, 0);
    char *start, *there;
    long *bss_there;
    uint64_t bytes;

    strcpy(in_data + 2 * PAGE, me == 0 ? "zero" : "one");
    in_bss = 5 + me;
    WORKS(onenode_region(node, key, &memory, (void **)&start, &bytes));
    CHECK(start <= in_data && in_data + sizeof in_data <= start + bytes);
    CHECK(start <= (char *)&in_bss && (char *)(&in_bss + 1) <= start + bytes);
    CHECK(strcmp(in_data, "data") == 0 && in_bss == 5 + me);
    meet();
    WORKS(onenode_view_open(node, &key, 1, table, &view));
    there = (char *)ONENODE_AT(table, view, in_data + 2 * PAGE, (size_t)!me);
    bss_there = (long *)ONENODE_AT(table, view, &in_bss, (size_t)!me);
    CHECK(there != NULL && strcmp(there, me == 0 ? "one" : "zero") == 0);
    CHECK(bss_there != NULL && *bss_there == 5 + !me);
    meet();
    *bss_there = 50 + me;
    meet();
    CHECK(in_bss == 50 + !me);
    WORKS(onenode_view_close(view));
    WORKS(onenode_unregion(node, key));
    CHECK(in_bss == 50 + !me && strcmp(in_data, "data") == 0);
    free(table);
}

static void of_file(onenode_t *node)
{
    int fd = memfd_create("sources", MFD_ALLOW_SEALING);
    char *mapped;
    onenode_memory memory;
    CHECK(ftruncate(fd, 3 * BYTES) == 0);
    mapped = (char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, BYTES);
    memory = of(ONENODE_FILE, mapped, BYTES);
    memory.fd = fd;
    memory.offset = BYTES;
    FAILS(onenode_region(node, 1, &memory, NULL, NULL), ONENODE_EINVAL, "F_SEAL_SHRINK");
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    memory.offset = 0;
    FAILS(onenode_region(node, 1, &memory, NULL, NULL), ONENODE_EINVAL, "onenode_region: ");
    memory.offset = BYTES;
    seen(node, &memory, BYTES);
    close(fd);
    munmap(mapped, BYTES);
}

/* In one view, at other distances in each process, and with an address in the gap. */
static void together(onenode_t *node)
{
    static const uint64_t keys[] = { 1, 2, 3 };
    onenode_table *table = table_for(2);
    onenode_view_t *view;
    char *at[3], *first;
    for (int i = 0; i < 3; i++) {
        int k = me == 0 ? i : 2 - i;
        at[k] = (char *)region(node, keys[k], ONENODE_ALLOC, NULL, (uint64_t)(k + 1) * PAGE);
        at[k][PAGE - 1] = (char)(10 * me + k);
    }
    meet();
    WORKS(onenode_view_open(node, keys, 3, table, &view));
    WORKS(onenode_attach(node, (uint32_t)!me, ONENODE_EVER));
    for (int k = 0; k < 3; k++)
        CHECK(*(char *)onenode_at(table, at[k] + PAGE - 1, (size_t)!me) == 10 * !me + k);
    first = at[0] < at[1] ? at[0] + PAGE : at[1] + 2 * PAGE;
    CHECK(onenode_resolve(view, first, (size_t)!me) == NULL);
    CHECK(strstr(onenode_message(), "no region of the view") != NULL);
    meet();
    WORKS(onenode_view_close(view));
    for (int k = 0; k < 3; k++)
        WORKS(onenode_unregion(node, keys[k]));
    free(table);
}

static void body(void)
{
    onenode_t *node = opened((uint32_t)me);
    introduce(node, plainly);
    allocated(node);
    adopted(node);
    taken_away(node);
    program(node);
    of_file(node);
    together(node);
    if (access("/dev/xpmem", R_OK | W_OK) == 0) {
        onenode_memory memory = of(ONENODE_EXPORT, in_data + 1, PAGE);
        void *start;
        WORKS(onenode_region(node, 5, &memory, &start, NULL));
        CHECK(start == in_data + 1);
    }
    meet();
    WORKS(onenode_close(node));
}

int main(void)
{
    run(2, 0, body);
    return failures != 0;
}
