/* One-sided MPI by load and store on one node: what the files of this library share, and its hot path.
 *
 * The library is preloaded into a program of MPI. It interposes the calls of one-sided communication under both of their
 * names (MPI_x, PMPI_x). A window of MPI_Win_allocate or MPI_Win_allocate_shared whose ranks share a node is made by MPI itself
 * as a shared window, so every rank has the addresses of all parts. Put, get and accumulates are then carried out at the call,
 * by load, store and locked instruction, and synchronised by words in shared memory. MPI makes and frees the window, and carries out
 * whatever is not plainly valid or not known here.
 *
 * A window of MPI_Win_allocate over several nodes is MPI's own. Puts and gets are ours to those ranks whose parts are mapped here (near.c),
 * all accumulates and the other ranks are MPI's.
 *
 * Why that is right:
 *  - An epoch has begun when the call that begins it returns, as that call has waited for the others. What is done at the call is therefore
 *    inside the epoch, and complete before it ends. A flush and MPI_Win_sync order all accesses. For windows over several nodes MPI
 *    promises no such thing, so they are served only where it is known to be so: see `begins_at_once`.
 *  - An operation that MPI carries out is counted in its target's `issued`. A flush goes to MPI unless `done` has reached it.
 *  - All accumulates of a window on values of one predefined type are ours: see atomics.c.
 *  - A wait by get and flush makes MPI no progress, but MPI may need it (a lock of ours that another rank wants, a message).
 *    So every so many flushes look for a message: see `progress`. */
#ifndef ONENODE_MPI_H
#define ONENODE_MPI_H
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HIDDEN __attribute__((visibility("hidden")))
#define PUBLIC __attribute__((visibility("default")))
#define LOCAL_THREAD HIDDEN extern _Thread_local __attribute__((tls_model("initial-exec")))

/* What is open for access: for all ranks of a window, or for one. 0 is no epoch: MPI reports the error. */
enum { OPEN_FENCE = 1, OPEN_ALL = 2 };
enum { OPEN_START = 1, OPEN_LOCK = 2, OPEN_EXCLUSIVE = 4 };

/* A lock for values that no locked instruction covers, one for each rank of a window, in shared memory. */
typedef struct { _Atomic uint32_t held; } guard;

/* A rank's words of a window, in shared memory: lines of their own.
 *  - A lock: whoever takes it draws a number and waits until all before have entered, and, to have it alone, until they have left.
 *  - How many fences others have come to, as each round of a fence has told.
 *  - How many epochs others have completed here, and for how many each has posted. */
enum { LINE = 64, ROUNDS = 8, MOST_RANKS = 1 << ROUNDS };
typedef struct { _Alignas(LINE) _Atomic uint32_t drawn, entered, left, completed, heard[ROUNDS]; _Alignas(LINE) _Atomic uint32_t posted[]; } words;

/* A rank of a window. `issued` counts operations that MPI has, `done` how many of them a flush has completed. */
typedef struct {
    char *base;
    size_t size;
    size_t unit;
    bool far; /* its part is not mapped here: all is MPI's */
    _Atomic uint8_t open;
    bool by_mpi;  /* MPI has locked it */
    _Atomic uint32_t issued, done;
    guard *guard; /* NULL: accumulates are MPI's */
    uint32_t starts; /* of epochs to it that it has posted */
    words *words;    /* NULL: synchronisation is MPI's */
} target;

/* What each rank tells the others of its part of a new window: also the bytes that its shared memory can still take, and which of the
 * place's words it has free. */
typedef struct { unsigned long long size, unit, able, free, slots; } part;

/* A part of a window that MPI has made, and where it lies in a file that is mapped: see near.c. It begins with `word` until all ranks
 * have looked; then with what was `kept`. */
typedef struct { unsigned long long size, unit, told, major, minor, inode, offset, word, kept; } spot;

/* The memory that the ranks of a place share, for each: a line for the guard, and words for so many windows. */
enum { WINDOWS = 32 };

/* The ranks of a communicator: see places.c. */
typedef struct place {
    bool serves;     /* or windows are MPI's alone */
    int n, here;     /* all ranks, and those of this node */
    int *ranks;      /* those of this node among all; NULL: one node has them all */
    char *memory;    /* shared, if one node has them all: `each` bytes for each, first the guard */
    size_t each;
    part *parts;     /* of each, for one window at a time */
    _Atomic uint64_t slots; /* which words are free, as bits; a window has the same of all ranks */
    size_t words;    /* the bytes of each */
    MPI_Group group; /* all ranks */
    uint32_t me;     /* among those of this node */
    uint32_t users;
} place;

/* A window, never freed: a dead one keeps its place in its chain (see windows.c) and has a handle that no window has. So a
 * thread may compare handles through a stale pointer. */
typedef struct window {
    _Atomic(MPI_Win) handle;
    uint32_t n;
    _Atomic uint8_t open;
    _Atomic uint32_t issued, done;
    target *targets;
    place *place;
    int flavor;      /* what the program made */
    uint64_t slot;   /* which of the place's words, as a bit; 0: none */
    bool by_mpi;     /* MPI has locked all */
    uint32_t fences; /* that this rank has come to */
    uint32_t awaited; /* epochs that others complete here, of all so far */
    bool posted, started;
    char noncontig[8]; /* the program's value of that key, or "" */
    struct window *_Atomic next;
} window;

/* A run of bytes of a type, relative to the address of the buffer. */
typedef struct { ptrdiff_t at; size_t bytes; } run;

/* How values of a predefined type are combined. */
typedef enum { SIGNED, UNSIGNED, FLOATING, COMPLEX, LOGICAL, BYTES, CHARACTER, PAIR } kind;
/* Pairs of a value and an index, or of two values. */
enum { FLOAT_INT, DOUBLE_INT, LONG_INT, SHORT_INT, INT_INT, LONG_DOUBLE_INT, FLOAT_FLOAT, DOUBLE_DOUBLE };
enum { MAX_, MIN_, SUM_, PROD_, LAND_, BAND_, LOR_, BOR_, LXOR_, BXOR_, MINLOC_, MAXLOC_, REPLACE_, NO_OP_, OPERATIONS };
typedef void combine(void *into, const void *from);

/* One predefined type: `bytes` as MPI counts them, `span` from the first to the last of them. A pair has `first` bytes before its
 * gap, if there is one. */
typedef struct {
    kind kind;
    uint8_t bytes, span, first;
    combine *const *operations; /* by operation; NULL: not defined */
    void (*sum)(void *into, const void *from, size_t count); /* of many, or NULL */
} element;

/* A type of the program. Never freed, as windows. */
typedef struct type {
    _Atomic(MPI_Datatype) handle;
    bool dense;      /* no gaps, from 0 to the extent */
    bool predefined;
    const element *element; /* what all of it is made of, or NULL */
    size_t size;
    ptrdiff_t extent, lower;
    size_t true_extent;
    run *runs; /* of one, in the order of the type map; none of dense types and, at first, of large ones */
    size_t count;
    struct type *_Atomic next;
} type;

/* The MPI's own calls, found behind us by their names PMPI_x. */
#include "names.h"
typedef struct {
#define X(name, parameters, ...) int(*name) parameters;
    OPERATIONS_(X) REQUESTS(X) SYNCHRONISATION(X) WINDOWS(X)
#undef X
} calls_of_mpi;
HIDDEN extern calls_of_mpi next;

/* How a call that another file than interpose.c defines is done. */
#define X(name, parameters, ...) HIDDEN int on_##name parameters;
SYNCHRONISATION(X) WINDOWS(X)
#undef X

/* Where calls went, if the program's user wants to know: see statistics.c. */
enum {
#define X(name, ...) COUNT_##name,
    OPERATIONS_(X) REQUESTS(X) SYNCHRONISATION(X)
#undef X
    COUNTED
};
enum { OURS, PASSED, FOREIGN }; /* done here; by MPI on a window of ours; on another window */
HIDDEN extern bool counting;
HIDDEN void count_call(int name, int where);
HIDDEN void print_counts(void);
#define COUNT(name, where) (UNLIKELY(counting) ? count_call(COUNT_##name, where) : (void)0)

LOCAL_THREAD window *last_window;
LOCAL_THREAD const type *last_type;

/* What the shortest way needs of the last window and predefined type: see quick.h. If calls are to be counted or a tool is there, `window` is
 * one that no handle has. */
typedef struct {
    window *window;
    MPI_Datatype type;
    uint32_t bytes; /* of the type; it has no gaps */
    bool integer;   /* of 4 or 8 bytes */
    bool stored;    /* since the last flush */
    uint8_t calls;  /* that look for a message each time it is 0 */
} quick_state;
LOCAL_THREAD quick_state quick;
HIDDEN extern bool watched;

HIDDEN window *find_window(MPI_Win win);
/* The place of a communicator, which the caller keeps until `leave_place`. NULL on all ranks: there is none. */
HIDDEN place *place_of(MPI_Comm comm);
HIDDEN void leave_place(place *p);
/* The ranks of this node, in their order, where this one is `me`. False on all ranks: MPI has no communicator left. */
HIDDEN bool node_of(MPI_Comm comm, int me, MPI_Comm *node);
/* Errors on a communicator of the program's come back to us, until they are as before again. */
HIDDEN MPI_Errhandler return_errors(MPI_Comm comm);
HIDDEN void restore_errors(MPI_Comm comm, MPI_Errhandler theirs);
/* Whether `good` is true on all ranks. */
HIDDEN bool all_agree(bool good, MPI_Comm comm);
/* A shared window of MPI's, whose parts need not lie one after the other. False: MPI cannot. */
HIDDEN bool shared_window(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win);
/* This rank cannot keep to what all have agreed on. */
HIDDEN void end_without_memory(void);
/* Finds where the own part lies, if it is in a shared file, and marks it. */
HIDDEN void tell_spot(char *base, spot *own);
/* Finds the parts of other ranks here, or NULL. */
HIDDEN void find_spots(const spot *spots, int n, char **found);
/* What a type was made from: the runs are the caller's to free. `laid`: they are all of it. */
typedef struct { run *runs; size_t count, room; ptrdiff_t extent; const element *element; int combiner; bool laid; } layout;
HIDDEN void lay_out(MPI_Datatype handle, layout *l);
/* Whether it is a predefined type, or one of Fortran's by precision, which counts as one. */
HIDDEN bool is_lone(const layout *l);
/* The element of a predefined type, or NULL. */
HIDDEN const element *predefined_element(MPI_Datatype handle);
HIDDEN const type *find_type(MPI_Datatype handle);
HIDDEN void forget_type(MPI_Datatype handle);
/* Finds the runs of a large type. False: it is too large. */
HIDDEN bool take_apart(const type *t);
/* `which` is the number of bytes, of PAIR the kind of pair. NULL: there is no such. */
HIDDEN const element *element_of(kind kind, size_t which);

HIDDEN void copy_typed(char *to, MPI_Count to_count, const type *to_type, const char *from, MPI_Count from_count, const type *from_type);
/* The address of displacement `disp`, if `count` of a type with gaps there lie in the rank's part; else NULL. */
HIDDEN char *typed_address(const target *t, MPI_Aint disp, MPI_Count count, const type *type);

/* What became of an operation: it is MPI's; done; an error, as it is valid but for reaching out of the rank's part, which not every
 * MPI notices in a shared window; an error, as an accumulate of this type is not known here, and MPI's would not be atomic to ours. */
typedef enum { PASS, DONE, OUTSIDE, UNKNOWN } outcome;

/* An accumulate of any form. */
HIDDEN outcome accumulate(window *w, const void *o, MPI_Count oc, MPI_Datatype ot, void *result, MPI_Count rc, MPI_Datatype rt, int rank,
                       MPI_Aint disp, MPI_Count tc, MPI_Datatype tt, MPI_Op op, bool fetches);
HIDDEN outcome fetch_and_op(window *w, const void *o, void *result, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Op op);
HIDDEN outcome compare_and_swap(window *w, const void *o, const void *expected, void *result, MPI_Datatype t, int rank, MPI_Aint disp);

HIDDEN void progress(void);
HIDDEN void mark_issued(window *w, int rank);
/* Before MPI carries out something on a rank, or on any, in an epoch of ours: it needs one of its own. */
HIDDEN void let_mpi_in(window *w, int rank);
/* Before MPI frees a window: it has an epoch exactly if one of ours is not ended, so that it reports that. */
HIDDEN void tell_mpi(window *w);

/* The window of a handle, or NULL if it is MPI's alone. */
static inline window *window_of(MPI_Win win)
{
    window *w = last_window;
    return LIKELY(atomic_load_explicit(&w->handle, memory_order_acquire) == win) ? w : find_window(win);
}

/* A type, or NULL if it is not valid or not understood. */
static inline const type *type_of(MPI_Datatype handle)
{
    const type *t = last_type;
    return LIKELY(atomic_load_explicit(&t->handle, memory_order_acquire) == handle) ? t : find_type(handle);
}

/* The rank of a window, if it is one and open for access. */
static inline target *target_of(window *w, int rank)
{
    if (UNLIKELY((uint32_t)rank >= w->n))
        return NULL;
    target *t = &w->targets[rank];
    bool open = atomic_load_explicit(&w->open, memory_order_relaxed) | atomic_load_explicit(&t->open, memory_order_relaxed);
    return LIKELY(open) ? t : NULL;
}

/* The same in an epoch of a lock, as flush and request-based operations need. */
static inline target *locked_target_of(window *w, int rank)
{
    if (UNLIKELY((uint32_t)rank >= w->n))
        return NULL;
    target *t = &w->targets[rank];
    bool open = (atomic_load_explicit(&w->open, memory_order_relaxed) & OPEN_ALL)
                | (atomic_load_explicit(&t->open, memory_order_relaxed) & OPEN_LOCK);
    return LIKELY(open) ? t : NULL;
}

/* Whether `bytes` from `disp` units on are all in the rank's part, and at which offset. One below 0 is a very large size_t. */
static inline bool is_inside(const target *t, MPI_Aint disp, size_t bytes, size_t *offset)
{
    ptrdiff_t at;
    bool fits = !__builtin_mul_overflow((ptrdiff_t)disp, (ptrdiff_t)t->unit, &at);
    *offset = (size_t)at;
    return LIKELY(fits && *offset <= t->size && bytes <= t->size - *offset);
}

/* Where they are, or NULL. */
static inline char *address(const target *t, MPI_Aint disp, size_t bytes)
{
    size_t offset;
    return is_inside(t, disp, bytes, &offset) ? t->base + offset : NULL;
}

/* What to do about an address that is NULL. Nothing may be put anywhere. The parts of the program's own shared window may adjoin. */
static inline outcome outside(const window *w, MPI_Aint disp, size_t bytes)
{
    return bytes != 0 && disp >= 0 && w->flavor == MPI_WIN_FLAVOR_ALLOCATE ? OUTSIDE : PASS;
}

static inline bool is_apart(const type *t)
{
    return t->dense || t->runs != NULL || t->size == 0;
}

/* NULL, which is MPI_BOTTOM, too, and MPI_IN_PLACE of either MPI are no buffers of dense types. */
static inline bool is_buffer(const void *buffer)
{
    return LIKELY((uintptr_t)buffer + 1 > 2);
}

static inline void copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 8) /* one instruction */
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else /* a rank may put into its own part */
        memmove(to, from, bytes);
}

/* A place in a buffer of some type: at `at`, `left` bytes of the run are left. */
typedef struct { char *at; size_t left; char *instance; size_t run; const type *type; } cursor;

static inline cursor start_of(char *buffer, MPI_Count count, const type *t)
{
    if (t->dense || t->size == 0)
        return (cursor){.at = buffer, .left = (size_t)count * t->size, .type = t};
    /* A buffer may be MPI_BOTTOM. */
    return (cursor){.at = (char *)((uintptr_t)buffer + (uintptr_t)t->runs[0].at), .left = t->runs[0].bytes, .instance = buffer, .type = t};
}

/* Goes on, also past the end of a run; not past the end of the buffer. */
static inline void advance(cursor *c, size_t bytes)
{
    while (UNLIKELY(bytes >= c->left) && !c->type->dense) {
        bytes -= c->left;
        if (++c->run == c->type->count) {
            c->run = 0;
            c->instance = (char *)((uintptr_t)c->instance + (uintptr_t)c->type->extent);
        }
        c->at = (char *)((uintptr_t)c->instance + (uintptr_t)c->type->runs[c->run].at);
        c->left = c->type->runs[c->run].bytes;
    }
    c->at += bytes;
    c->left -= bytes;
}

/* Copies between a buffer and a rank's part, of any types. */
HIDDEN outcome transfer(window *w, void *o, MPI_Count oc, MPI_Datatype ot, int rank, MPI_Aint disp, MPI_Count tc, MPI_Datatype tt, bool put);

/* Orders this thread's accesses before a flush and after: what it has read comes before what follows, and what it has written is visible to
 * all by then, as a put before a later get, which takes the processor longer. What the program itself stores is ordered by MPI_Win_sync. */
static inline void order_flush(void)
{
    atomic_thread_fence(memory_order_acquire);
    if (!quick.stored)
        return;
    quick.stored = false;
    atomic_thread_fence(memory_order_seq_cst);
}

/* Whether MPI has nothing under way to it. */
static inline bool is_done(target *t)
{
    return atomic_load_explicit(&t->issued, memory_order_relaxed) == atomic_load_explicit(&t->done, memory_order_relaxed);
}

/* Looks after MPI's messages now and then, for programs that wait by one-sided calls only. */
static inline void poll(void)
{
    if (UNLIKELY(++quick.calls == 0))
        progress();
}

/* Compare and swap of an integer. */
#define SWAP(bytes, T) \
    static inline void swap_##bytes(void *theirs, const void *o, const void *expected, void *result) \
    { \
        T old, new; \
        memcpy(&old, expected, bytes); \
        memcpy(&new, o, bytes); \
        quick.stored = true; \
        __atomic_compare_exchange_n((T *)theirs, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
        memcpy(result, &old, bytes); \
    }
SWAP(1, uint8_t) SWAP(2, uint16_t) SWAP(4, uint32_t) SWAP(8, uint64_t)
#undef SWAP
#endif
