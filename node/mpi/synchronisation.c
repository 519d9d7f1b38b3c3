/* Synchronisation. That of windows on one node is ours, that of others MPI's; a flush needs MPI only for operations that MPI has.
 *
 * A rank's state is changed after MPI has agreed, so an error leaves it as it was. Threads that call at the same time have to be
 * ordered by the program, so the flags are relaxed atomics. */
#include "onenode_mpi.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* Drives MPI, so that a rank that waits by get and flush serves others meanwhile. It looks for a message that is hardly there, as MPI does
 * nothing else when it has found one; and among several ranks, as MPICH does nothing else in a communicator of one. */
void progress(void)
{
    enum { LEAST = 1 << 14 };
    static _Atomic unsigned times;
    int tag = LEAST + (int)(atomic_fetch_add_explicit(&times, 1, memory_order_relaxed) % LEAST), found;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* Orders this rank's accesses before and after: all of them, as a flush orders a put before a later get. */
static inline void order(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* The same before a call that ends an epoch, and after one that begins one: they meet others' by what MPI does in between. */
static inline void release(void)
{
    atomic_thread_fence(memory_order_release);
}

static inline void acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}

static inline uint32_t get(_Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* An operation went to MPI. It is counted when it has begun, and `done` is set when the flush has ended that read `issued`
 * before it began. So of two threads, neither takes the other's unfinished flush for its own. */
void mark_issued(window *w, int rank)
{
    if ((uint32_t)rank >= w->n)
        return;
    atomic_fetch_add_explicit(&w->targets[rank].issued, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->issued, 1, memory_order_relaxed);
}

static inline void set_done(_Atomic uint32_t *done, uint32_t issued)
{
    atomic_store_explicit(done, issued, memory_order_relaxed);
}

static bool is_locked_all(window *w)
{
    return atomic_load_explicit(&w->open, memory_order_relaxed) & OPEN_ALL;
}

/* Carries out a call of this name if only our accesses are to be ordered. False: it is MPI's. */
static inline bool is_ours(window *w, int name, bool orders_only)
{
    if (UNLIKELY(counting))
        count_call(name, orders_only ? OURS : w == NULL ? FOREIGN : PASSED);
    if (UNLIKELY(!orders_only))
        return false;
    name == COUNT_Win_sync ? order() : order_flush();
    poll();
    return true;
}

/* The rank that a flush is about, or NULL if it is not locked. */
static inline target *flushed(window *w, int rank)
{
    return w != NULL ? locked_target_of(w, rank) : NULL;
}

int on_Win_flush(int rank, MPI_Win win)
{
    window *w = window_of(win);
    target *t = flushed(w, rank);
    if (LIKELY(is_ours(w, COUNT_Win_flush, t != NULL && is_done(t))))
        return MPI_SUCCESS;
    uint32_t issued = t != NULL ? get(&t->issued) : 0;
    order();
    int status = next.Win_flush(rank, win);
    order();
    if (t != NULL && status == MPI_SUCCESS)
        set_done(&t->done, issued);
    return status;
}

int on_Win_flush_local(int rank, MPI_Win win)
{
    window *w = window_of(win);
    target *t = flushed(w, rank);
    if (LIKELY(is_ours(w, COUNT_Win_flush_local, t != NULL && is_done(t))))
        return MPI_SUCCESS;
    return next.Win_flush_local(rank, win);
}

/* Whether any rank is locked. */
static inline bool is_locked(window *w)
{
    if (LIKELY(is_locked_all(w)))
        return true;
    for (uint32_t i = 0; i < w->n; i++)
        if (atomic_load_explicit(&w->targets[i].open, memory_order_relaxed) & OPEN_LOCK)
            return true;
    return false;
}

/* Whether a flush of all ranks has nothing to flush in MPI, and is no error. */
static inline bool all_done(window *w)
{
    return LIKELY(get(&w->issued) == get(&w->done)) && is_locked(w);
}

int on_Win_flush_all(MPI_Win win)
{
    window *w = window_of(win);
    if (LIKELY(is_ours(w, COUNT_Win_flush_all, w != NULL && all_done(w))))
        return MPI_SUCCESS;
    uint32_t issued = w != NULL ? get(&w->issued) : 0;
    if (w != NULL && is_locked(w)) /* or MPI says that it is not */
        let_mpi_in(w, MPI_PROC_NULL);
    order();
    int status = next.Win_flush_all(win);
    order();
    if (w != NULL && status == MPI_SUCCESS)
        set_done(&w->done, issued);
    return status;
}

int on_Win_flush_local_all(MPI_Win win)
{
    window *w = window_of(win);
    if (LIKELY(is_ours(w, COUNT_Win_flush_local_all, w != NULL && all_done(w))))
        return MPI_SUCCESS;
    if (w != NULL && is_locked(w))
        let_mpi_in(w, MPI_PROC_NULL);
    return next.Win_flush_local_all(win);
}

int on_Win_sync(MPI_Win win)
{
    window *w = window_of(win);
    if (LIKELY(is_ours(w, COUNT_Win_sync, w != NULL && is_locked(w))))
        return MPI_SUCCESS;
    order();
    return next.Win_sync(win);
}

static inline uint8_t opened(target *t)
{
    return atomic_load_explicit(&t->open, memory_order_relaxed);
}

/* Waits until a counter has come to a number. */
static void wait_for(_Atomic uint32_t *counter, uint32_t number)
{
    enum { SPINS = 1000 };
    for (uint32_t tries = 1; (int32_t)(atomic_load_explicit(counter, memory_order_acquire) - number) < 0; tries++) {
        if (tries > SPINS && tries % 16 == 0)
            sched_yield();
        if (tries > SPINS && tries % 256 == 0)
            progress(); /* whom it waits for may wait for a message to this rank */
    }
}

static inline void take(words *of, bool alone)
{
    uint32_t number = atomic_fetch_add_explicit(&of->drawn, 1, memory_order_seq_cst);
    wait_for(&of->entered, number);
    if (alone)
        wait_for(&of->left, number);
    else
        atomic_store_explicit(&of->entered, number + 1, memory_order_release);
}

/* Whoever has it alone is the only one to write its words, `entered` last, which others wait for first. */
static inline void give_back(words *of, bool alone)
{
    if (alone) {
        uint32_t number = atomic_load_explicit(&of->left, memory_order_relaxed);
        atomic_store_explicit(&of->left, number + 1, memory_order_release);
        atomic_store_explicit(&of->entered, number + 1, memory_order_release);
    } else
        atomic_fetch_add_explicit(&of->left, 1, memory_order_seq_cst);
}

/* Waits for all ranks: in each round, twice as far as before, a rank tells another that all are here of whom it knows. */
static void meet(window *w)
{
    uint32_t me = w->place->me;
    words *own = w->targets[me].words;
    uint32_t times = ++w->fences;
    for (uint32_t round = 0, far = 1; far < w->n; round++, far *= 2) {
        atomic_store_explicit(&w->targets[(me + far) % w->n].words->heard[round], times, memory_order_release);
        wait_for(&own->heard[round], times);
    }
}

/* Ends an epoch of all ranks: nothing is under way. */
static void settle(window *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        set_done(&w->targets[i].done, get(&w->targets[i].issued));
    set_done(&w->done, get(&w->issued));
}

/* What MPI does in an epoch of ours is rare, so it gets one of its own then. Its locks are shared and unchecked, because ours exclude. */
void let_mpi_in(window *w, int rank)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    if (w == NULL || w->slot == 0 || ((uint32_t)rank < w->n && !w->open && !opened(&w->targets[rank]))) /* none: MPI says so */
        return;
    bool all = atomic_load_explicit(&w->open, memory_order_relaxed) != 0 || w->started;
    pthread_mutex_lock(&one);
    if (all && !w->by_mpi)
        w->by_mpi = next.Win_lock_all(MPI_MODE_NOCHECK, w->handle) == MPI_SUCCESS;
    for (uint32_t i = 0; i < w->n && !all; i++) {
        target *t = &w->targets[i];
        if ((i == (uint32_t)rank || (uint32_t)rank >= w->n) && opened(t) & OPEN_LOCK && !t->by_mpi)
            t->by_mpi = next.Win_lock(MPI_LOCK_SHARED, (int)i, MPI_MODE_NOCHECK, w->handle) == MPI_SUCCESS;
    }
    pthread_mutex_unlock(&one);
}

/* MPI ends its epoch of all ranks, if it has one. */
static int let_mpi_out(window *w)
{
    int status = w->by_mpi ? next.Win_unlock_all(w->handle) : MPI_SUCCESS;
    if (w->by_mpi && status == MPI_SUCCESS) {
        settle(w);
        w->by_mpi = false;
    }
    return status;
}

void tell_mpi(window *w)
{
    if (w != NULL && (w->started || is_locked(w)))
        let_mpi_in(w, MPI_PROC_NULL);
    else if (w != NULL)
        let_mpi_out(w);
}

static int wrong(window *w, int error)
{
    PMPI_Win_call_errhandler(w->handle, error);
    return error;
}

static inline void open_rank(window *w, target *t, uint8_t how)
{
    atomic_store_explicit(&t->open, how, memory_order_relaxed);
    if (UNLIKELY(atomic_load_explicit(&w->open, memory_order_relaxed) != 0)) { /* the fence's epoch is over */
        let_mpi_out(w);
        atomic_store_explicit(&w->open, 0, memory_order_relaxed);
    }
}

static inline target *rank_of(window *w, int rank)
{
    return w != NULL && (uint32_t)rank < w->n ? &w->targets[rank] : NULL;
}

static inline bool is_plain(int assert)
{
    return assert == 0 || assert == MPI_MODE_NOCHECK;
}

int on_Win_lock(int kind, int rank, int assert, MPI_Win win)
{
    window *w = window_of(win);
    target *t = rank_of(w, rank);
    bool alone = kind == MPI_LOCK_EXCLUSIVE, locks = t != NULL && t->words != NULL;
    uint8_t how = OPEN_LOCK | (alone ? OPEN_EXCLUSIVE : 0);
    if (LIKELY(locks && (alone || kind == MPI_LOCK_SHARED) && is_plain(assert))) {
        COUNT(Win_lock, OURS);
        if (UNLIKELY(opened(t) || is_locked_all(w) || w->started))
            return wrong(w, MPI_ERR_RMA_SYNC);
        take(t->words, alone);
        open_rank(w, t, how);
        return MPI_SUCCESS;
    }
    COUNT(Win_lock, w == NULL ? FOREIGN : PASSED);
    int status = next.Win_lock(kind, rank, assert, win);
    acquire();
    if (t != NULL && status == MPI_SUCCESS) {
        if (locks)
            take(t->words, alone);
        t->by_mpi = true;
        open_rank(w, t, how);
    }
    return status;
}

int on_Win_unlock(int rank, MPI_Win win)
{
    window *w = window_of(win);
    target *t = rank_of(w, rank);
    uint8_t how = t != NULL ? opened(t) : 0;
    bool ours = how & OPEN_LOCK && t->words != NULL;
    int status = MPI_SUCCESS;
    if (UNLIKELY(!ours || t->by_mpi)) {
        COUNT(Win_unlock, w == NULL ? FOREIGN : PASSED);
        uint32_t issued = t != NULL ? get(&t->issued) : 0;
        release();
        status = next.Win_unlock(rank, win);
        if (t == NULL || status != MPI_SUCCESS)
            return status;
        set_done(&t->done, issued);
        t->by_mpi = false;
    } else
        COUNT(Win_unlock, OURS);
    atomic_store_explicit(&t->open, 0, memory_order_relaxed);
    if (ours) {
        give_back(t->words, how & OPEN_EXCLUSIVE);
        poll();
    }
    return status;
}

int on_Win_lock_all(int assert, MPI_Win win)
{
    window *w = window_of(win);
    bool locks = w != NULL && w->slot != 0;
    int status = MPI_SUCCESS;
    if (UNLIKELY(!locks || !is_plain(assert))) {
        COUNT(Win_lock_all, w == NULL ? FOREIGN : PASSED);
        status = next.Win_lock_all(assert, win);
        acquire();
        if (w == NULL || status != MPI_SUCCESS)
            return status;
        w->by_mpi = true;
    } else {
        COUNT(Win_lock_all, OURS);
        if (UNLIKELY(w->started || is_locked(w)))
            return wrong(w, MPI_ERR_RMA_SYNC);
        let_mpi_out(w);
    }
    for (uint32_t i = 0; locks && i < w->n; i++)
        take(w->targets[i].words, false);
    atomic_store_explicit(&w->open, OPEN_ALL, memory_order_relaxed);
    return status;
}

int on_Win_unlock_all(MPI_Win win)
{
    window *w = window_of(win);
    bool ours = w != NULL && w->slot != 0 && is_locked_all(w);
    int status = MPI_SUCCESS;
    if (UNLIKELY(!ours || w->by_mpi)) {
        COUNT(Win_unlock_all, w == NULL ? FOREIGN : PASSED);
        release();
        status = next.Win_unlock_all(win);
        if (w == NULL || status != MPI_SUCCESS)
            return status;
        settle(w);
        w->by_mpi = false;
    } else
        COUNT(Win_unlock_all, OURS);
    atomic_store_explicit(&w->open, 0, memory_order_relaxed);
    for (uint32_t i = 0; ours && i < w->n; i++)
        give_back(w->targets[i].words, false);
    if (ours)
        poll();
    return status;
}

/* Whether a call of this name is ours, for a window or, if that is not NULL, a group of its ranks; `plain`: its assert is a valid one. */
static bool has_words(window *w, int name, bool plain, MPI_Group *group, int *n)
{
    bool ours = plain && w != NULL && w->slot != 0 && (group == NULL || (*group != MPI_GROUP_NULL && PMPI_Group_size(*group, n) == MPI_SUCCESS));
    if (UNLIKELY(counting))
        count_call(name, ours ? OURS : w == NULL ? FOREIGN : PASSED);
    return ours;
}

int on_Win_fence(int assert, MPI_Win win)
{
    window *w = window_of(win);
    int status = MPI_SUCCESS;
    bool plain = (assert & ~(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)) == 0;
    if (!has_words(w, COUNT_Win_fence, plain, NULL, NULL)) {
        release();
        status = next.Win_fence(assert, win);
        acquire();
        if (w == NULL || status != MPI_SUCCESS)
            return status;
        settle(w);
    } else {
        if (w->started || is_locked(w))
            return wrong(w, MPI_ERR_RMA_SYNC);
        status = let_mpi_out(w);
        meet(w);
        poll();
    }
    atomic_store_explicit(&w->open, assert & MPI_MODE_NOSUCCEED ? 0 : OPEN_FENCE, memory_order_relaxed);
    return status;
}

/* The ranks of a group in the window, which has it all. */
static bool ranks_of(MPI_Group group, int n, window *w, int *ranks)
{
    int own[n + 1];
    for (int i = 0; i < n; i++)
        own[i] = i;
    bool good = PMPI_Group_translate_ranks(group, n, own, w->place->group, ranks) == MPI_SUCCESS;
    for (int i = 0; good && i < n; i++)
        good = (uint32_t)ranks[i] < w->n;
    return good;
}

/* Open MPI's shared windows hang by MPI_MODE_NOCHECK. */
static int with_check(window *w, int assert)
{
    return w != NULL ? assert & ~MPI_MODE_NOCHECK : assert;
}

int on_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    window *w = window_of(win);
    int n = 0, status = MPI_SUCCESS;
    bool ours = has_words(w, COUNT_Win_start, is_plain(assert), &group, &n);
    if (!ours) {
        status = next.Win_start(group, with_check(w, assert), win);
        acquire();
        if (w == NULL || status != MPI_SUCCESS || PMPI_Group_size(group, &n) != MPI_SUCCESS)
            return status;
    }
    int ranks[n + 1];
    if (!ranks_of(group, n, w, ranks))
        return ours ? wrong(w, MPI_ERR_GROUP) : status;
    if (ours) {
        if (w->started || is_locked(w))
            return wrong(w, MPI_ERR_RMA_SYNC);
        let_mpi_out(w);
    }
    atomic_store_explicit(&w->open, 0, memory_order_relaxed); /* the fence's epoch is over */
    w->started = true;
    for (int i = 0; i < n; i++) {
        target *t = &w->targets[ranks[i]];
        if (ours)
            wait_for(&w->targets[w->place->me].words->posted[ranks[i]], ++t->starts);
        atomic_store_explicit(&t->open, OPEN_START, memory_order_relaxed);
    }
    return status;
}

int on_Win_complete(MPI_Win win)
{
    window *w = window_of(win);
    bool ours = has_words(w, COUNT_Win_complete, true, NULL, NULL) && w->started;
    release();
    int status = ours ? let_mpi_out(w) : next.Win_complete(win);
    if (w == NULL || status != MPI_SUCCESS)
        return status;
    settle(w);
    w->started = false;
    for (uint32_t i = 0; i < w->n; i++)
        if (opened(&w->targets[i]) & OPEN_START) {
            atomic_store_explicit(&w->targets[i].open, 0, memory_order_relaxed);
            if (ours)
                atomic_fetch_add_explicit(&w->targets[i].words->completed, 1, memory_order_acq_rel);
        }
    if (ours)
        poll();
    return status;
}

int on_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    window *w = window_of(win);
    int n = 0;
    release();
    bool plain = (assert & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) == 0;
    if (!has_words(w, COUNT_Win_post, plain, &group, &n))
        return next.Win_post(group, with_check(w, assert), win);
    int ranks[n + 1];
    if (!ranks_of(group, n, w, ranks))
        return wrong(w, MPI_ERR_GROUP);
    if (w->posted)
        return wrong(w, MPI_ERR_RMA_SYNC);
    w->posted = true;
    w->awaited += (uint32_t)n;
    /* Only this rank writes that word. */
    for (int i = 0; i < n; i++) {
        _Atomic uint32_t *posted = &w->targets[ranks[i]].words->posted[w->place->me];
        atomic_store_explicit(posted, atomic_load_explicit(posted, memory_order_relaxed) + 1, memory_order_release);
    }
    return MPI_SUCCESS;
}

int on_Win_wait(MPI_Win win)
{
    window *w = window_of(win);
    int status = MPI_SUCCESS;
    if (has_words(w, COUNT_Win_wait, true, NULL, NULL) && w->posted) {
        wait_for(&w->targets[w->place->me].words->completed, w->awaited);
        w->posted = false;
        poll();
    } else
        status = next.Win_wait(win);
    acquire();
    return status;
}

int on_Win_test(MPI_Win win, int *flag)
{
    window *w = window_of(win);
    int status = MPI_SUCCESS;
    if (has_words(w, COUNT_Win_test, true, NULL, NULL) && w->posted) {
        *flag = atomic_load_explicit(&w->targets[w->place->me].words->completed, memory_order_acquire) == w->awaited;
        w->posted = !*flag;
        poll();
    } else
        status = next.Win_test(win, flag);
    acquire();
    return status;
}
