/* Ranks as forked processes that exchange their cards, or anything, through pipes: what stands for
 * a runtime in these programs. */
#ifndef JOB_H
#define JOB_H

#include "check.h"
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 16, SECONDS = 100 };

static int me, ranks;           /* of the process: 0 to ranks - 1 */
static int up[2], down[2];      /* to the parent, from the parent */

/* Reads or writes all of it; 0 if the other end has gone. */
static inline int all_of(int writes, int fd, void *data, size_t bytes)
{
    for (char *at = (char *)data; bytes > 0;) {
        ssize_t done = writes ? write(fd, at, bytes) : read(fd, at, bytes);
        if (done <= 0)
            return 0;
        at += done;
        bytes -= (size_t)done;
    }
    return 1;
}

/* Collects `bytes` bytes of each rank that lives. */
static inline void exchange(const void *own, size_t bytes, void *all)
{
    uint64_t size = bytes;
    all_of(1, up[1], &size, sizeof size);
    all_of(1, up[1], (void *)(uintptr_t)own, bytes);
    if (!all_of(0, down[0], all, bytes * (size_t)ranks))
        exit(3);
}

/* Waits for all ranks that live. Not of the library's: whatever that does, this comes to an end. */
static inline void meet(void)
{
    char all[MOST_RANKS];
    exchange("", 1, all);
}

/* The parent's part of `exchange`, until all ranks have ended. */
static inline void serve(const int *from, const int *to)
{
    for (;;) {
        static char all[MOST_RANKS * 4096];
        uint64_t size = 0, bytes = 0;
        int said[MOST_RANKS] = { 0 }, any = 0;
        memset(all, 0, sizeof all);
        for (int r = 0; r < ranks; r++) {
            if (!all_of(0, from[r], &size, sizeof size))
                continue;
            bytes = size;
            said[r] = any = all_of(0, from[r], all + (size_t)r * bytes, bytes);
        }
        if (!any)
            return;
        for (int r = 0; r < ranks; r++)
            if (said[r])
                all_of(1, to[r], all, bytes * (size_t)ranks);
    }
}

/* Runs `body` in `n` processes. A rank in `killed` must have ended by SIGKILL, others with 0. */
static inline void run(int n, unsigned killed, void (*body)(void))
{
    int from[MOST_RANKS], to[MOST_RANKS], status;
    pid_t pids[MOST_RANKS];
    ranks = n;
    signal(SIGPIPE, SIG_IGN);
    for (me = 0; me < n; me++) {
        CHECK(pipe(up) == 0 && pipe(down) == 0);
        pids[me] = fork();
        if (pids[me] == 0) {
            for (int r = 0; r < me; r++)
                close(from[r]), close(to[r]);
            close(up[0]), close(down[1]);
            signal(SIGPIPE, SIG_DFL);
            alarm(SECONDS);
            failures = 0;
            body();
            exit(failures != 0);
        }
        close(up[1]), close(down[0]);
        from[me] = up[0], to[me] = down[1];
    }
    serve(from, to);
    for (int r = 0; r < n; r++) {
        int expected = killed >> r & 1 ? SIGKILL : 0;
        CHECK(waitpid(pids[r], &status, 0) == pids[r]);
        if (status != expected)
            failures++, fprintf(stderr, "rank %d of %d ended with status %#x\n", r, n, status);
        close(from[r]), close(to[r]);
    }
}

/* A node of rank `rank` with default settings. */
static inline onenode_t *opened(uint32_t rank)
{
    onenode_config config;
    onenode_t *node = NULL;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = rank;
    config.file = -1;
    WORKS(onenode_open(&config, &node));
    return node;
}

/* Whether its memory is the process's own, lent by XPMEM. */
static inline int is_lent(onenode_t *node)
{
    char text[64] = "";
    onenode_describe(node, text, sizeof text);
    CHECK(strstr(text, "backend ") != NULL);
    return strstr(text, "backend xpmem") != NULL;
}

/* Exchanges cards; the number of process i is number(i). */
static inline void introduce(onenode_t *node, uint32_t (*number)(int))
{
    onenode_card own, all[MOST_RANKS];
    WORKS(onenode_get_card(node, &own));
    exchange(&own, sizeof own, all);
    for (int r = 0; r < ranks; r++)
        if (r != me) {
            uint32_t rank = number(r);
            WORKS(onenode_know(node, &rank, &all[r]));
            CHECK(rank == number(r));
        }
}

static inline uint32_t plainly(int r)
{
    return (uint32_t)r;
}

/* A region of source `source`; where it begins, or NULL. */
static inline void *region(onenode_t *node, uint64_t key, uint32_t source, void *start, uint64_t bytes)
{
    onenode_memory memory;
    void *made = NULL;
    uint64_t has = 0;
    memset(&memory, 0, sizeof memory);
    memory.size = sizeof memory;
    memory.source = source;
    memory.start = start;
    memory.bytes = bytes;
    WORKS(onenode_region(node, key, &memory, &made, &has));
    CHECK(source == ONENODE_PROGRAM || made == start || start == NULL);
    CHECK(has >= bytes);
    return made;
}

/* A table for ranks below `capacity`. */
static inline onenode_table *table_for(size_t capacity)
{
    onenode_table *table = (onenode_table *)calloc(1, onenode_table_bytes(capacity));
    table->capacity = capacity;
    return table;
}

#endif
