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
 * Rules for all functions:
 *
 *   Addresses are those of this process, sizes are in bytes, times in nanoseconds.
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
#define ONENODE_EVER UINT64_MAX         /* as a time: no limit */
#define ONENODE_NO_RANK UINT32_MAX      /* as a rank: none */

/* ---- Errors -------------------------------------------------------------------------------- */

enum onenode_error {
    ONENODE_OK = 0,
    ONENODE_EINVAL = -1,   /* an argument: which one, its value, and what was expected */
    ONENODE_ESYS = -2,     /* a system call failed: which one, and why */
    ONENODE_ENOTHERE = -3, /* the rank is on another machine, another user's, or in a PID namespace
                              that cannot be seen from here: reach it through the network */
    ONENODE_ENOCARD = -4,  /* the rank's card is not known yet */
    ONENODE_ENOMAP = -5,   /* no region of the rank has all these bytes */
    ONENODE_EUNLIKE = -6,  /* the rank's region of that key, or its backend, is not like ours */
    ONENODE_EDIED = -7,    /* a rank that is needed has ended without onenode_close */
    ONENODE_ELEFT = -8,    /* a rank that is needed has called onenode_close */
    ONENODE_ETIME = -9,    /* the time is up */
    ONENODE_ESTOPPED = -10,/* the client's progress function returned non-zero */
    ONENODE_EVERSION = -11,/* the peer's library is of another, incompatible version; both are named */
    ONENODE_ENOWAY = -12   /* this backend cannot do it, or the address space has no room */
};

/* A sentence about this thread's last failure. Never NULL; valid until the thread's next failure. */
const char *onenode_message(void);

/* ONENODE_ABI of the library in use. */
unsigned onenode_abi(void);

/* ---- Views: from own addresses to a peer's ------------------------------------------------- */

/* A table lies in the client's memory and ends with three arrays of `capacity` words, by rank: how
 * many bytes can be reached, where they are mapped here, and where they begin in the rank's own
 * address space. All are 0 for a rank that is on another node, or not attached yet. */
typedef struct onenode_table {
    uintptr_t origin;       /* where the view begins here */
    size_t    capacity;     /* ranks that there is room for; set by the client */
} onenode_table;

/* Bytes of a table with its arrays, for calloc. */
#define onenode_table_bytes(capacity) \
    (sizeof(onenode_table) + 3 * (size_t)(capacity) * sizeof(uintptr_t))

/* Defines a table for a constant number of ranks: `static ONENODE_TABLE(peers, 4096);`. Where a table
 * is wanted, pass &peers.table. */
#define ONENODE_TABLE(name, ranks)                                                                 \
    union {                                                                                        \
        uintptr_t word[2 + 3 * (ranks)];                                                           \
        onenode_table table;                                                                       \
    } name = { { 0, (ranks) } }

#define ONENODE_INLINE_ static inline __attribute__((__always_inline__))

/* onenode_at for who knows the capacity as a constant: it saves reading it. */
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

/* The address of rank's copy of the byte at own; NULL if rank is on another node, not attached, or
 * out of the table, or if own is outside the view. Between regions of the view are gaps. */
#define onenode_at(table, own, rank) onenode_at_(table, (table)->capacity, own, rank)

/* For runtimes that name remote memory by its owner's addresses: where theirs, as rank knows it, is
 * mapped here. The view has one region. */
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

/* ---- Copies -------------------------------------------------------------------------------- */

/* Copies, tuned for memory that processes share. Unlike after memcpy, later stores are ordered after
 * all of it: no fence is needed before a flag is set. The two do not overlap. */
void onenode_copy(void *to, const void *from, size_t bytes);

/* Copies n elements of `bytes` bytes each, the next one to_stride and from_stride bytes further on. */
void onenode_copy_strided(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride,
                          size_t bytes, size_t n);

/* Copies, then sets the signal, or adds to it if `add` is not 0. Whoever sees that sees the bytes. The
 * signal is 8-byte aligned. */
int onenode_copy_signal(void *to, const void *from, size_t bytes, uint64_t *signal_there,
                        uint64_t value, int add);

#ifdef __cplusplus
}
#endif
#endif /* ONENODE_H */
