/* OSSS-UCX's fast path between the PEs of one node, over onenode: loads and stores on the peers' variables
 * and heaps, the processor's atomics, and collectives of all PEs. It includes nothing of OSSS-UCX's;
 * README.md says which functions of OSSS-UCX call it, and where.
 *
 * What returns bool has done the operation and returns true, or has done nothing and returns
 * false: then it is UCX's. That is so before shmemc_onenode_attach and after shmemc_onenode_fini, too. */
#ifndef SHMEMC_ONENODE_H
#define SHMEMC_ONENODE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <onenode.h>

#define SHMEMC_ONENODE_INLINE static inline __attribute__((__always_inline__))

/* ---- Start and end. These return 0, or 1 with a sentence in shmemc_onenode_message(). ---- */

/* Makes the program's variables reachable. Before UCX maps them: other pages come to their addresses. */
int shmemc_onenode_init(int pe, int npes);

/* New memory for a symmetric heap; all PEs make theirs in the same order. It lasts until fini. */
int shmemc_onenode_heap(size_t bytes, void **start, size_t *got);

/* The card that all PEs get through PMIx, and that of another PE. */
int shmemc_onenode_card(onenode_card *card);
int shmemc_onenode_know(int pe, const onenode_card *card);

/* Attaches the PEs of this node; after all cards are known. `progress` is called while a collective waits. */
int shmemc_onenode_attach(void (*progress)(void));

/* Detaches the PEs and frees the heaps; after a barrier. */
int shmemc_onenode_fini(void);

const char *shmemc_onenode_message(void);

/* ---- The path of puts and gets ---- */

/* Never NULL: they have room for no PE before attach and after fini. The second has all PEs or none: where
 * some PEs are far, their atomics are UCX's, and all atomics have to be of one kind. */
extern onenode_table *shmemc_onenode_table;
extern onenode_table *shmemc_onenode_all;

/* The address here of PE pe's counterpart of own; NULL if pe is on another node, or own is not
 * symmetric. */
SHMEMC_ONENODE_INLINE void *
shmemc_onenode_ptr(const void *own, int pe)
{
    return onenode_at(shmemc_onenode_table, own, (size_t) (unsigned) pe);
}

/* OSSS-UCX's functions are not inlined, so that a scalar's length is no constant. */
SHMEMC_ONENODE_INLINE void
shmemc_onenode_copy(void *to, const void *from, size_t nbytes)
{
    switch (nbytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: onenode_copy(to, from, nbytes);
    }
}

SHMEMC_ONENODE_INLINE bool
shmemc_onenode_put(void *dest, const void *src, size_t nbytes, int pe)
{
    void *there = shmemc_onenode_ptr(dest, pe);
    if (there == NULL)
        return false;
    shmemc_onenode_copy(there, src, nbytes);
    return true;
}

SHMEMC_ONENODE_INLINE bool
shmemc_onenode_get(void *dest, const void *src, size_t nbytes, int pe)
{
    const void *there = shmemc_onenode_ptr(src, pe);
    if (there == NULL)
        return false;
    shmemc_onenode_copy(dest, there, nbytes);
    return true;
}

/* The signal becomes visible after the data. */
SHMEMC_ONENODE_INLINE bool
shmemc_onenode_put_signal(void *dest, const void *src, size_t nbytes, uint64_t *sig_addr,
                          uint64_t signal, bool add, int pe)
{
    uint64_t *sig_there = (uint64_t *) onenode_at(shmemc_onenode_all, sig_addr, (size_t) (unsigned) pe);
    void *there = nbytes != 0 ? shmemc_onenode_ptr(dest, pe) : sig_there;
    if (sig_there == NULL || there == NULL)
        return false;
    onenode_copy_signal(there, src, nbytes, sig_there, signal, add);
    return true;
}

/* ---- Atomic operations, of 4 and 8 bytes. retp may be NULL where nothing is fetched. ---- */

enum shmemc_onenode_op {
    SHMEMC_ONENODE_add, SHMEMC_ONENODE_and, SHMEMC_ONENODE_or, SHMEMC_ONENODE_xor, SHMEMC_ONENODE_swap
};

#define SHMEMC_ONENODE_AMO_(bits)                                                                  \
    do {                                                                                           \
        uint##bits##_t *word = (uint##bits##_t *) there, value, old;                               \
        memcpy(&value, vp, sizeof(value));                                                         \
        switch (op) {                                                                              \
        case SHMEMC_ONENODE_add: old = __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL); break;   \
        case SHMEMC_ONENODE_and: old = __atomic_fetch_and(word, value, __ATOMIC_ACQ_REL); break;   \
        case SHMEMC_ONENODE_or: old = __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL); break;     \
        case SHMEMC_ONENODE_xor: old = __atomic_fetch_xor(word, value, __ATOMIC_ACQ_REL); break;   \
        default: old = __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL); break;                  \
        }                                                                                          \
        if (retp != NULL)                                                                          \
            memcpy(retp, &old, sizeof(old));                                                       \
    } while (0)

SHMEMC_ONENODE_INLINE bool
shmemc_onenode_amo(enum shmemc_onenode_op op, void *t, const void *vp, size_t vs, int pe, void *retp)
{
    void *there = onenode_at(shmemc_onenode_all, t, (size_t) (unsigned) pe);
    if (there == NULL)
        return false;
    if (vs == 8)
        SHMEMC_ONENODE_AMO_(64);
    else if (vs == 4)
        SHMEMC_ONENODE_AMO_(32);
    else
        return false;
    return true;
}

SHMEMC_ONENODE_INLINE bool
shmemc_onenode_cswap(void *t, const void *cp, const void *vp, size_t vs, int pe, void *retp)
{
    void *there = onenode_at(shmemc_onenode_all, t, (size_t) (unsigned) pe);
    if (there == NULL || (vs != 4 && vs != 8))
        return false;
    if (vs == 8) {
        uint64_t old, value;
        memcpy(&old, cp, 8), memcpy(&value, vp, 8);
        __atomic_compare_exchange_n((uint64_t *) there, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        memcpy(retp, &old, 8);
    } else {
        uint32_t old, value;
        memcpy(&old, cp, 4), memcpy(&value, vp, 4);
        __atomic_compare_exchange_n((uint32_t *) there, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        memcpy(retp, &old, 4);
    }
    return true;
}

/* ---- Quiet: UCX's flush only where UCX has something under way. One of these is in each context. ---- */

struct shmemc_onenode_far {
    unsigned long begun, flushed;       /* operations given to UCX, and those that a flush has completed */
};

SHMEMC_ONENODE_INLINE void
shmemc_onenode_far_begins(struct shmemc_onenode_far *far)
{
    __atomic_fetch_add(&far->begun, 1, __ATOMIC_RELAXED);
}

/* Orders loads and stores. Returns whether UCX has to flush; then call shmemc_onenode_flushed with *seen
 * afterwards. */
SHMEMC_ONENODE_INLINE bool
shmemc_onenode_quiet(const struct shmemc_onenode_far *far, unsigned long *seen)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *seen = __atomic_load_n(&far->begun, __ATOMIC_RELAXED);
    return *seen != __atomic_load_n(&far->flushed, __ATOMIC_RELAXED);
}

SHMEMC_ONENODE_INLINE void
shmemc_onenode_flushed(struct shmemc_onenode_far *far, unsigned long seen)
{
    __atomic_store_n(&far->flushed, seen, __ATOMIC_RELAXED);
}

/* Whether all PEs are on this node: then nothing arrives through UCX, and it needs no progress. */
SHMEMC_ONENODE_INLINE bool
shmemc_onenode_has_all(void)
{
    return shmemc_onenode_all->capacity != 0;
}

/* A turn of a loop that waits for a word. False, and UCX has to make progress, if some PEs are far. `turns` begins
 * at 0. */
SHMEMC_ONENODE_INLINE bool
shmemc_onenode_turn(unsigned *turns)
{
    if (!shmemc_onenode_has_all())
        return false;
    if (++*turns % 256 == 0)
        sched_yield();                  /* the one that writes may have no CPU */
    return true;
}

/* ---- Collectives of all PEs, if all are on this node. False: the algorithms of SHCOLL. ---- */

/* After quiet where a barrier is meant. */
bool shmemc_onenode_sync_all(void);

/* `bytes` is that of one PE's part. */
bool shmemc_onenode_alltoall(void *dest, const void *source, size_t bytes, int start, int log_stride, int size);
bool shmemc_onenode_fcollect(void *dest, const void *source, size_t bytes, int start, int log_stride, int size);

/* `element` is an onenode_element, or 0 for a type that is none: then false. */
bool shmemc_onenode_reduce(void *dest, const void *source, size_t n, uint32_t element,
                           uint32_t reduction, int start, int log_stride, int size);

/* The onenode_reduction of an operation by its name in OpenSHMEM. */
enum {
    SHMEMC_ONENODE_REDUCE_and = ONENODE_AND, SHMEMC_ONENODE_REDUCE_or = ONENODE_OR,
    SHMEMC_ONENODE_REDUCE_xor = ONENODE_XOR, SHMEMC_ONENODE_REDUCE_max = ONENODE_MAX,
    SHMEMC_ONENODE_REDUCE_min = ONENODE_MIN, SHMEMC_ONENODE_REDUCE_sum = ONENODE_SUM,
    SHMEMC_ONENODE_REDUCE_prod = ONENODE_PROD
};

/* The onenode_element of a C type; 0: none. */
#define SHMEMC_ONENODE_ELEMENT(type)                                                               \
    _Generic((type) 0, short: ONENODE_INT16, int: ONENODE_INT32, long: ONENODE_INT64,              \
             long long: ONENODE_INT64, float: ONENODE_FLOAT, double: ONENODE_DOUBLE, default: 0)

#endif /* SHMEMC_ONENODE_H */
