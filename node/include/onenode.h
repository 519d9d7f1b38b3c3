/* onenode.h, ABI 1: other processes' memory on this machine, by load and store.
 *
 * A runtime (an OpenSHMEM, an MPI, a PGAS language) is the client. Each of its processes does this:
 *
 *     onenode_open         joins its peers on this machine, under the rank that the runtime gave it
 *     onenode_region       makes memory reachable and names it by a key
 *     onenode_get_card     returns 64 bytes, which the runtime exchanges through any channel it has
 *     onenode_know         takes the card of a peer
 *     onenode_view_open    fills a table, in the client's memory, that translates addresses
 *     onenode_at           translates: own address and rank to the address of the peer's copy,
 *                          or NULL if the peer is on another node; one comparison, inlined
 *
 * What onenode_at returns is ordinary memory. Load and store it, copy it with onenode_copy, use the
 * compiler's atomics on it. The kernel keeps it coherent; nothing runs in between.
 *
 * What holds for all functions:
 *
 *   Addresses are those of this process, sizes are in bytes, time limits in nanoseconds.
 *   Ranks are the client's own numbers, those of processes on other nodes included.
 *   A function that returns int returns ONENODE_OK, or a negative onenode_error after which
 *   nothing has changed. onenode_message() then has a sentence that names what was wrong.
 *   Any thread may call any function on an object that is open; closing it is the last call.
 *   Nothing prints, exits, reads the environment, installs signal handlers or starts threads.
 *
 * Needs Linux, 64 bits, and GCC or Clang in C99 or C++11, or later. */
#ifndef ONENODE_H
#define ONENODE_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__linux__) || !defined(__LP64__) || !defined(__GNUC__)
#error "onenode.h needs Linux, 64 bits, and GCC or Clang"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ONENODE_ABI 1
#define ONENODE_EVER UINT64_MAX         /* a time limit: none */
#define ONENODE_NO_RANKS UINT32_MAX     /* a rank: none; see onenode_config */
#define ONENODE_ANY_KEY UINT64_MAX      /* a key: one that the library chooses; see onenode_region */

typedef struct onenode onenode_t;                 /* this process among its peers; any number */
typedef struct onenode_view onenode_view_t;       /* regions that are translated together */
typedef struct onenode_mapping onenode_mapping_t; /* a range of a rank's memory */
typedef struct onenode_group onenode_group_t;     /* ranks that synchronise */

/* ---- Errors -------------------------------------------------------------------------------- */

enum onenode_error {
    ONENODE_OK = 0,
    ONENODE_EINVAL = -1,    /* an argument: which one, its value, and what was expected */
    ONENODE_ESYS = -2,      /* a system call failed: which one, and why */
    ONENODE_ENOTHERE = -3,  /* the rank is on another machine, another user's, or in another PID
                               namespace: reach it through the network */
    ONENODE_ENOCARD = -4,   /* the rank's card is not known yet */
    ONENODE_ENOMAP = -5,    /* no region of the rank has all these bytes */
    ONENODE_EUNLIKE = -6,   /* the rank's region of that key, or its backend, is not like ours */
    ONENODE_EDIED = -7,     /* a rank that is needed has ended without onenode_close */
    ONENODE_ELEFT = -8,     /* a rank that is needed has called onenode_close */
    ONENODE_ETIME = -9,     /* the time is up */
    ONENODE_ESTOPPED = -10, /* the client's progress function returned non-zero */
    ONENODE_EVERSION = -11, /* the peer's library is of an incompatible version; both are named */
    ONENODE_ENOWAY = -12    /* this backend cannot do it, or there is no room */
};

/* A sentence about this thread's last failure. Never NULL; valid until the thread's next
 * failure. */
const char *onenode_message(void);

/* ONENODE_ABI of the library in use. */
unsigned onenode_abi(void);

/* ---- The node: this process and its peers -------------------------------------------------- */

enum onenode_backend {
    ONENODE_AUTO = 0,      /* XPMEM where it works, else memory files */
    ONENODE_MEMFD = 1,     /* sealed memory files; any Linux */
    ONENODE_XPMEM = 2      /* the kernel module: existing memory is shared where it lies */
};

enum onenode_fork {
    ONENODE_FORK_SHARES = 0, /* a child shares the regions: for fork that exec follows. With XPMEM
                              * it has copies, as of all its memory */
    ONENODE_FORK_DROPS = 2   /* a child does not have them, and faults there */
};

enum onenode_crowd {
    ONENODE_CROWD_FIND_OUT = 0, /* ranks share CPUs if there are more ranks than CPUs */
    ONENODE_CROWD_SHARED = 1,   /* they do: whoever waits yields at once */
    ONENODE_CROWD_ALONE = 2     /* they do not */
};

typedef struct onenode_config {
    uint32_t size;         /* sizeof(onenode_config) */
    uint32_t backend;      /* one of onenode_backend; must come out equal on all ranks */
    uint32_t rank;         /* own rank; ONENODE_NO_RANKS: peers are numbered as they are met */
    uint32_t fork;         /* one of onenode_fork */
    uint32_t crowd;        /* one of onenode_crowd */
    uint32_t regions;      /* most regions at a time; 0: 64 */
    uint64_t extra;        /* bytes for the client that all peers can reach: see onenode_extra */

    /* Called repeatedly by each function that waits; NULL: nothing is. If it returns anything
     * but 0, the wait ends with ONENODE_ESTOPPED. */
    int (*progress)(void *);
    void *progress_arg;

    /* -1. Or, for ranks in different containers, which cannot open each other's files: a large
     * sparse memfd, sealed by F_SEAL_SHRINK, that their launcher has given to all of them. Rank r
     * has the `stride` bytes at offset + r * stride; both are whole pages. */
    int file;
    uint32_t zero;         /* 0 */
    uint64_t offset;
    uint64_t stride;
} onenode_config;

/* Opens a node: from now on peers that have its card can attach. Waits for nobody. */
int onenode_open(const onenode_config *config, onenode_t **node);

/* Closes it: peers see that it has left. What is mapped of them goes with the last view. Memory
 * of ONENODE_ALLOC goes, other memory keeps address and content. With XPMEM, peers that still
 * use it fault: synchronise before. */
int onenode_close(onenode_t *node);

/* What a peer needs in order to attach. Plain bytes; stays valid when regions are added. */
typedef struct onenode_card { uint64_t word[8]; } onenode_card;
int onenode_get_card(onenode_t *node, onenode_card *card);

/* Takes the card of *rank. Makes no system call. With *rank == ONENODE_NO_RANKS the peer gets
 * the next free number, which is stored there. */
int onenode_know(onenode_t *node, uint32_t *rank, const onenode_card *card);

/* The other way: the rank whose card this is, the own one's included. ONENODE_ENOCARD if it is that of
 * no known rank; the card is not taken. */
int onenode_rank_of(onenode_t *node, const onenode_card *card, uint32_t *rank);

/* Instead of an exchange: waits until ranks 0 to ranks - 1 of the same user have called this with
 * the same key, on this machine and in this PID namespace, and then knows all of them. A key is
 * for one meeting at a time. */
int onenode_meet(onenode_t *node, const void *key, size_t bytes, uint32_t ranks, uint64_t ns);

/* Attaches a rank now, in all views, and not at its first access. Waits until it has their
 * regions. */
int onenode_attach(onenode_t *node, uint32_t rank, uint64_t ns);

/* The same for these n ranks, or, with NULL, for ranks 0 to n - 1, within one limit for all. Those that
 * are not here (ONENODE_ENOTHERE) are left out: *near, unless NULL, gets the number of those that are, the
 * own one among them. After another error, ranks that were attached before stay so. */
int onenode_attach_many(onenode_t *node, const uint32_t *ranks, uint32_t n, uint64_t ns,
                        uint32_t *near);

/* Forgets a rank, with its card, and unmaps its memory. No thread may be using it. */
int onenode_detach(onenode_t *node, uint32_t rank);

enum onenode_state {
    ONENODE_UNKNOWN = 0,   /* no card yet */
    ONENODE_ELSEWHERE = 1, /* not reachable by load and store */
    ONENODE_HERE = 2,      /* reachable, not attached yet */
    ONENODE_ATTACHED = 3,
    ONENODE_LEFT = 4,      /* has closed its node */
    ONENODE_DEAD = 5       /* has ended without */
};
int onenode_state(onenode_t *node, uint32_t rank);

/* The config.extra bytes of a rank, own or other; NULL and a message if it cannot be attached.
 * They begin zeroed and are the client's, for rings and words. Futexes work there. */
void *onenode_extra(onenode_t *node, uint32_t rank);

/* ---- Regions: own memory that peers can reach ---------------------------------------------- */

enum onenode_source {
    ONENODE_ALLOC = 1,     /* new zeroed memory; pages are made as they are touched */
    ONENODE_ADOPT = 2,     /* private anonymous pages of the client; address and content stay */
    ONENODE_PROGRAM = 3,   /* the same with .data and .bss of the main program */
    ONENODE_EXPORT = 4,    /* any memory, at any alignment; XPMEM only */
    ONENODE_FILE = 5       /* shared memory that the client has mapped from a file */
};
/* With ADOPT and PROGRAM other pages come to the same addresses, protected as before; what is
 * protected in ways of its own (mprotect) may be 32 parts at most. Peers may read and write all of it.
 * Threads may go on writing: they are held for the moment. But a device that has registered the old pages stays with
 * those: adopt before the network starts.
 *
 * What may be done with a region's memory until onenode_unregion:
 *   loads, stores, atomics, system calls, mprotect, mlock    yes; peers do not notice mprotect
 *   munmap, mremap, mmap over it, free, shmdt                no. Where it is noticed, it is an error:
 *       another region there, and a view of the region, are ONENODE_EINVAL
 *   madvise(MADV_DONTNEED, MADV_FREE)                        of no effect, as on all shared memory.
 *       With XPMEM no: peers keep the old pages
 *   madvise(MADV_REMOVE), fallocate of holes                 yes: zeros, for peers, too
 *   madvise(MADV_DONTFORK), fork                             yes; a child that does not exec at once
 *       shares the memory, unless config.fork is ONENODE_FORK_DROPS
 * After onenode_unregion all of this may be done with memory that is not ONENODE_ALLOC's. The system
 * gets adopted memory back when it is unmapped and the node is closed. */

/* Fields that a source does not name are 0. */
typedef struct onenode_memory {
    uint32_t size;         /* sizeof(onenode_memory) */
    uint32_t source;       /* one of onenode_source */
    void    *start;        /* where it is; ALLOC: where it should be, or NULL; PROGRAM: NULL */
    uint64_t bytes;        /* ALLOC, ADOPT: rounded up to whole pages; PROGRAM: 0 */
    uint64_t align;        /* ALLOC: a power of two; 0: 2 MiB */
    uint32_t pages;        /* ALLOC: 0: ordinary, 1: transparent huge, else bytes of huge pages */
    int      fd;           /* FILE: a memfd sealed by F_SEAL_SHRINK, */
    uint64_t offset;       /* and where in it the memory begins */
} onenode_memory;

/* Makes memory reachable under a key that no other region of this node has; nor has one any of the
 * memory. Where it begins and how long it is is stored in *start and *bytes, which may be NULL. With
 * ONENODE_ANY_KEY the library counts keys from 2^63 on: ranks that make the same regions in the same
 * order get the same ones. */
int onenode_region(onenode_t *node, uint64_t key, const onenode_memory *memory,
                   void **start, uint64_t *bytes);

/* The region that has an own address: its key, where it begins and how long it is; each may be NULL.
 * ONENODE_ENOMAP if none of this node has. */
int onenode_region_of(onenode_t *node, const void *own, uint64_t *key, void **start,
                      uint64_t *bytes);

/* Takes it back; views of it must be closed. Memory of ONENODE_ALLOC goes. What peers have
 * mapped stays (memory files) or faults (XPMEM): agree before. */
int onenode_unregion(onenode_t *node, uint64_t key);

/* ---- Views: from own addresses to a peer's ------------------------------------------------- */

/* A table lies in the client's memory and ends with three arrays of `capacity` words, by rank:
 * how many bytes can be reached, where they are mapped here, and where they begin in the rank's
 * own address space. All are 0 for a rank that is on another node, or not attached yet. */
typedef struct onenode_table {
    uintptr_t origin;       /* where the view begins here */
    size_t    capacity;     /* ranks that there is room for; set by the client */
} onenode_table;

/* Bytes of a table with its arrays, for calloc. */
#define onenode_table_bytes(capacity) \
    (sizeof(onenode_table) + 3 * ONENODE_SIZE_(capacity) * sizeof(uintptr_t))
#ifdef __cplusplus
#define ONENODE_SIZE_(number) static_cast<size_t>(number)
#else
#define ONENODE_SIZE_(number) (size_t)(number)
#endif

/* Defines a table for a constant number of ranks: `static ONENODE_TABLE(peers, 4096);`. Where a
 * table is wanted, pass &peers.table. */
#define ONENODE_TABLE(name, ranks)                                                                 \
    union {                                                                                        \
        uintptr_t word[2 + 3 * (ranks)];                                                           \
        onenode_table table;                                                                       \
    } name = { { 0, (ranks) } }

/* Opens a view of the regions with these keys. Every rank that is accessed must have them,
 * too, with equal sizes, wherever they are there. Here they must lie within 1/64 of the address
 * space; else open two views. The table is zeroed but for its capacity, and the view's until
 * that is closed. */
int onenode_view_open(onenode_t *node, const uint64_t *keys, size_t nkeys, onenode_table *table,
                      onenode_view_t **view);

/* Closes it: the table translates nothing any more. */
int onenode_view_close(onenode_view_t *view);

/* The cold half of onenode_at: attaches the rank if necessary, and waits until it has the view's
 * regions. Exact: gaps between regions are outside. NULL and a message if the rank cannot be
 * reached, or own is in no region of the view. */
void *onenode_resolve(onenode_view_t *view, const void *own, size_t rank);

/* The other way: an address as `rank` knows it, to that of the own counterpart. NULL and a
 * message if it is in no region of the view there. */
void *onenode_own(onenode_view_t *view, const void *theirs, size_t rank);

#define ONENODE_INLINE_ static inline __attribute__((__always_inline__))

/* The inlined functions are C, in C++ programs, too. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

/* onenode_at where the capacity is a constant, which then need not be read. */
ONENODE_INLINE_ void *onenode_at_(const onenode_table *table, size_t capacity, const void *own,
                                  size_t rank)
{
    const uintptr_t *bytes = (const uintptr_t *)(table + 1), *base = bytes + capacity;
    uintptr_t offset = (uintptr_t)own - table->origin;
    if (__builtin_expect(rank < capacity &&
                         offset < __atomic_load_n(&bytes[rank], __ATOMIC_ACQUIRE), 1)) {
        void *there = (void *)(offset + base[rank]);
        if (there == (void *)0) /* spares the caller's test */
            __builtin_unreachable();
        return there;
    }
    return (void *)0;
}

/* The address of rank's copy of the byte at own. NULL if rank is on another node, not attached,
 * or out of the table, or if own is outside the view; an address that faults if own is in a gap
 * between two of its regions. */
#define onenode_at(table, own, rank) onenode_at_(table, (table)->capacity, own, rank)

/* The same, but attaches the rank at the first access. NULL means network, or a mistake: there is a
 * message. */
#define ONENODE_AT(table, view, own, rank) \
    onenode_at_or_resolve_(table, (table)->capacity, view, own, rank)

ONENODE_INLINE_ void *onenode_at_or_resolve_(const onenode_table *table, size_t capacity,
                                             onenode_view_t *view, const void *own, size_t rank)
{
    void *there = onenode_at_(table, capacity, own, rank);
    return __builtin_expect(there != (void *)0, 1) ? there : onenode_resolve(view, own, rank);
}

/* For runtimes that name remote memory by its owner's addresses: where theirs, as rank knows
 * it, is mapped here. The view has one region, or the table is the client's: see onenode_map. */
ONENODE_INLINE_ void *onenode_there(const onenode_table *table, const void *theirs, size_t rank)
{
    size_t capacity = table->capacity;
    const uintptr_t *bytes = (const uintptr_t *)(table + 1), *base = bytes + capacity,
                    *start = base + capacity;
    if (__builtin_expect(rank < capacity, 1)) {
        uintptr_t room = __atomic_load_n(&bytes[rank], __ATOMIC_ACQUIRE);
        uintptr_t offset = (uintptr_t)theirs - start[rank];
        if (__builtin_expect(offset < room, 1))
            return (void *)(offset + base[rank]);
    }
    return (void *)0;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* ---- Mappings: memory of a rank by the rank's own address ---------------------------------- */

/* Maps the bytes that the rank has at `theirs`, all in one of its regions, and stores where they
 * are here in *there. Whole pieces are mapped and kept for a while, so that mapping again, or
 * beside it, is quick. For runtimes that send addresses, and need neither views nor equal
 * regions: those that allocate unequally, or on some ranks only, enter what they have mapped in a
 * table that no view has, and use onenode_there. */
int onenode_map(onenode_t *node, uint32_t rank, uint64_t theirs, uint64_t bytes, void **there,
                onenode_mapping_t **mapping);

/* Gives it back. */
int onenode_unmap(onenode_mapping_t *mapping);

/* ---- Copies -------------------------------------------------------------------------------- */

/* Copies, tuned for memory that processes share. Unlike after memcpy, later stores are ordered
 * after all of it: no fence is needed before a flag is set. The two do not overlap. */
void onenode_copy(void *to, const void *from, size_t bytes);

/* Copies n elements of `bytes` bytes each, the next one to_stride and from_stride bytes further
 * on. */
void onenode_copy_strided(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride,
                          size_t bytes, size_t n);

/* Copies, then sets the signal, or adds to it if `add` is not 0. Whoever sees that sees the
 * bytes. The signal is 8-byte aligned. */
int onenode_copy_signal(void *to, const void *from, size_t bytes, uint64_t *signal_there,
                        uint64_t value, int add);

/* ---- Groups: ranks that synchronise, and collectives ---------------------------------------- */

/* Opens the group of `n` ranks, this process's among them. All members give the same id and the
 * same ranks in the same order, and call the same functions of the group in the same order.
 * Waits for nobody. A group belongs to one thread at a time. */
int onenode_group_open(onenode_t *node, uint64_t id, const uint32_t *ranks, uint32_t n,
                       onenode_group_t **group);

/* Leaves it. */
int onenode_group_close(onenode_group_t *group);

/* Returns when all members have called it; what they wrote before can be read then. If it fails before
 * this process has met all members, because a card comes late, say, it can be called again. After a later
 * error members may be in different places: calls fail again, and the group can only be closed. */
int onenode_barrier(onenode_group_t *group, uint64_t ns);

/* A barrier in two halves, for clients that make progress on a network meanwhile. onenode_arrive does
 * not wait. onenode_arrived returns 1, once, when all members have arrived, else 0. */
int onenode_arrive(onenode_group_t *group);
int onenode_arrived(onenode_group_t *group);

enum onenode_operation {
    ONENODE_BROADCAST = 1, /* root's source to all */
    ONENODE_ALLGATHER = 2, /* all sources, one after the other, to all */
    ONENODE_ALLTOALL = 3,  /* part i of each source to member i; `bytes` is that of a part */
    ONENODE_ALLREDUCE = 4, /* sources combined, to all */
    ONENODE_SCAN = 5,      /* those of the members up to this one */
    ONENODE_EXSCAN = 6     /* those of the members before it; zeros at the first one */
};
enum onenode_reduction {
    ONENODE_AND = 1, ONENODE_OR = 2, ONENODE_XOR = 3, /* not of floating-point numbers */
    ONENODE_MAX = 4, ONENODE_MIN = 5, ONENODE_SUM = 6, ONENODE_PROD = 7
};
enum onenode_element {
    ONENODE_INT8 = 1, ONENODE_INT16 = 2, ONENODE_INT32 = 3, ONENODE_INT64 = 4,
    ONENODE_UINT8 = 5, ONENODE_UINT16 = 6, ONENODE_UINT32 = 7, ONENODE_UINT64 = 8,
    ONENODE_FLOAT = 9, ONENODE_DOUBLE = 10
};

/* Fields that an operation does not name are 0. */
typedef struct onenode_collective {
    uint32_t size;         /* sizeof(onenode_collective) */
    uint32_t operation;    /* one of onenode_operation */
    uint32_t root;         /* BROADCAST: its place in the group, from 0 */
    uint32_t reduction;    /* ALLREDUCE, SCAN, EXSCAN: one of onenode_reduction, */
    uint32_t element;      /* and one of onenode_element */
    uint32_t zero;
    void *dest;            /* in the view, at the same place of the same region on all members; */
    const void *source;    /* so is the source, which may be dest where sources are combined */
    uint64_t bytes;        /* of one member's source; equal on all */
    onenode_view_t *view;
} onenode_collective;

/* Carries out a collective, which all members call. Buffers may be used again when it returns.
 * Errors in arguments come before anything else; others are as for onenode_barrier. */
int onenode_run(onenode_group_t *group, const onenode_collective *collective, uint64_t ns);

/* ---- Locks and words ----------------------------------------------------------------------- */

/* Acquires a lock: 8 bytes in the view, at `word` here, zero on all members at first, and used for
 * nothing else. Members get it in the order of their calls; where they share CPUs, one that runs
 * takes a free lock until the first in line has waited for 1 ms. With a limit a member is never in
 * line but tries repeatedly. If ONENODE_EDIED or ONENODE_ESTOPPED ends a call without a limit,
 * the lock cannot be used any more. The lock is kept in the memory of the group's first member, which
 * withdraws that region last. */
int onenode_lock(onenode_group_t *group, void *word, onenode_view_t *view, uint64_t ns);

/* Releases it. */
int onenode_unlock(onenode_group_t *group, void *word, onenode_view_t *view);

enum onenode_cmp {
    ONENODE_EQ = 1, ONENODE_NE = 2, ONENODE_GT = 3, ONENODE_GE = 4, ONENODE_LT = 5, ONENODE_LE = 6
};

/* Waits until *own, which others write by atomic operations of 8 bytes, compares so to `value`;
 * both are unsigned. What the writer wrote before can be read then. `from` is the rank that is to
 * write it: the wait ends when that one is gone; or ONENODE_NO_RANKS. */
int onenode_wait(onenode_t *node, const uint64_t *own, uint32_t cmp, uint64_t value, uint32_t from,
                 uint64_t ns);

/* ---- For people ---------------------------------------------------------------------------- */

/* What a fault at this address means, in one sentence; for the client's own handler of SIGSEGV
 * and SIGBUS, where it may be called. Returns its length; 0 if the address is none of the
 * node's. */
size_t onenode_explain(onenode_t *node, const void *fault, char *text, size_t bytes);

/* The node in a few lines: backend and why, ranks, regions, what is mapped. Returns the length
 * of all of it, also if it was cut to `bytes`. */
size_t onenode_describe(onenode_t *node, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* ONENODE_H */
