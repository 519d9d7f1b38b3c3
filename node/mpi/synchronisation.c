/* Synchronisation. Locks of windows on one node are ours; a flush needs MPI only for operations that MPI has; MPI does the rest.
 *
 * A rank's state is changed after MPI has agreed, so an error leaves it as it was. Threads that call at the same time have to be
 * ordered by the program, so the flags are relaxed atomics. */
#include "onenode_mpi.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* Drives MPI, so that a rank that waits by get and flush serves others meanwhile. */
void progress(window *w)
{
    int flag;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &flag, MPI_STATUS_IGNORE);
}

/* Orders this rank's accesses before and after: all of them, as a flush orders a put before a later get. */
static inline void order(void)
{
    atomic_thread_fence(memory_order_seq_cst);
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
    poll(w);
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

/* The rest is MPI's: the window, if it is one of ours. */
#define BEGIN(name) \
    window *w = window_of(win); \
    COUNT(name, w == NULL ? FOREIGN : PASSED); \
    let_mpi_in(w, MPI_PROC_NULL); \
    order();

static inline uint8_t opened(target *t)
{
    return atomic_load_explicit(&t->open, memory_order_relaxed);
}

static inline void open_rank(window *w, target *t, uint8_t how)
{
    atomic_store_explicit(&t->open, how, memory_order_relaxed);
    if (atomic_load_explicit(&w->open, memory_order_relaxed) != 0) /* the fence's epoch is over */
        atomic_store_explicit(&w->open, 0, memory_order_relaxed);
}

static void wait_for(window *w, _Atomic uint32_t *counter, uint32_t number)
{
    for (uint32_t tries = 0; atomic_load_explicit(counter, memory_order_acquire) != number;)
        if (++tries % 64 == 0) {
            sched_yield();
            progress(w); /* whoever has it may wait for a message to this rank */
        }
}

static inline void take(window *w, lock *l, bool alone)
{
    uint32_t number = atomic_fetch_add_explicit(&l->drawn, 1, memory_order_seq_cst);
    wait_for(w, &l->entered, number);
    if (alone)
        wait_for(w, &l->left, number);
    else
        atomic_store_explicit(&l->entered, number + 1, memory_order_release);
}

/* Whoever has it alone is the only one to write its words, `entered` last, which others wait for first. */
static inline void give_back(lock *l, bool alone)
{
    if (alone) {
        uint32_t number = atomic_load_explicit(&l->left, memory_order_relaxed);
        atomic_store_explicit(&l->left, number + 1, memory_order_release);
        atomic_store_explicit(&l->entered, number + 1, memory_order_release);
    } else
        atomic_fetch_add_explicit(&l->left, 1, memory_order_seq_cst);
}

/* What MPI does in an epoch of our locks is rare, so it gets its own epoch then. Its locks are shared and unchecked, because ours exclude. An
 * MPI that knows them also reports calls that are wrong while they are held. */
void let_mpi_in(window *w, int rank)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    if (w == NULL || w->lock == 0)
        return;
    bool all = is_locked_all(w);
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
    bool alone = kind == MPI_LOCK_EXCLUSIVE, locks = t != NULL && t->lock != NULL;
    uint8_t how = OPEN_LOCK | (alone ? OPEN_EXCLUSIVE : 0);
    if (LIKELY(locks && (alone || kind == MPI_LOCK_SHARED) && is_plain(assert) && !opened(t) && !is_locked_all(w))) {
        COUNT(Win_lock, OURS);
        take(w, t->lock, alone);
        open_rank(w, t, how);
        return MPI_SUCCESS;
    }
    COUNT(Win_lock, w == NULL ? FOREIGN : PASSED);
    let_mpi_in(w, MPI_PROC_NULL);
    order();
    int status = next.Win_lock(kind, rank, assert, win);
    if (t != NULL && status == MPI_SUCCESS) {
        if (locks)
            take(w, t->lock, alone);
        t->by_mpi = true;
        open_rank(w, t, how);
    }
    order();
    return status;
}

int on_Win_unlock(int rank, MPI_Win win)
{
    window *w = window_of(win);
    target *t = rank_of(w, rank);
    uint8_t how = t != NULL ? opened(t) : 0;
    bool ours = how & OPEN_LOCK && t->lock != NULL;
    int status = MPI_SUCCESS;
    if (UNLIKELY(!ours || t->by_mpi)) {
        COUNT(Win_unlock, w == NULL ? FOREIGN : PASSED);
        uint32_t issued = t != NULL ? get(&t->issued) : 0;
        order();
        status = next.Win_unlock(rank, win);
        order();
        if (t == NULL || status != MPI_SUCCESS)
            return status;
        set_done(&t->done, issued);
        t->by_mpi = false;
    } else
        COUNT(Win_unlock, OURS);
    atomic_store_explicit(&t->open, 0, memory_order_relaxed);
    if (ours)
        give_back(t->lock, how & OPEN_EXCLUSIVE);
    return status;
}

int on_Win_lock_all(int assert, MPI_Win win)
{
    window *w = window_of(win);
    bool locks = w != NULL && w->lock != 0, free = locks && !is_locked_all(w);
    for (uint32_t i = 0; free && i < w->n; i++)
        free = !opened(&w->targets[i]);
    int status = MPI_SUCCESS;
    if (UNLIKELY(!free || !is_plain(assert))) {
        COUNT(Win_lock_all, w == NULL ? FOREIGN : PASSED);
        let_mpi_in(w, MPI_PROC_NULL);
        order();
        status = next.Win_lock_all(assert, win);
        order();
        if (w == NULL || status != MPI_SUCCESS)
            return status;
        w->by_mpi = true;
    } else
        COUNT(Win_lock_all, OURS);
    for (uint32_t i = 0; locks && i < w->n; i++)
        take(w, w->targets[i].lock, false);
    atomic_store_explicit(&w->open, OPEN_ALL, memory_order_relaxed);
    return status;
}

/* Ends an epoch of all ranks: nothing is under way. */
static void settle(window *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        set_done(&w->targets[i].done, get(&w->targets[i].issued));
    set_done(&w->done, get(&w->issued));
}

int on_Win_unlock_all(MPI_Win win)
{
    window *w = window_of(win);
    bool ours = w != NULL && w->lock != 0 && is_locked_all(w);
    int status = MPI_SUCCESS;
    if (UNLIKELY(!ours || w->by_mpi)) {
        COUNT(Win_unlock_all, w == NULL ? FOREIGN : PASSED);
        order();
        status = next.Win_unlock_all(win);
        order();
        if (w == NULL || status != MPI_SUCCESS)
            return status;
        settle(w);
        w->by_mpi = false;
    } else
        COUNT(Win_unlock_all, OURS);
    atomic_store_explicit(&w->open, 0, memory_order_relaxed);
    for (uint32_t i = 0; ours && i < w->n; i++)
        give_back(w->targets[i].lock, false);
    return status;
}

int on_Win_fence(int assert, MPI_Win win)
{
    BEGIN(Win_fence)
    int status = next.Win_fence(assert, win);
    if (w != NULL && status == MPI_SUCCESS) {
        settle(w);
        atomic_store_explicit(&w->open, assert & MPI_MODE_NOSUCCEED ? 0 : OPEN_FENCE, memory_order_relaxed);
    }
    order();
    return status;
}

int on_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    BEGIN(Win_start)
    int status = next.Win_start(group, assert, win), n;
    if (w != NULL && status == MPI_SUCCESS && PMPI_Group_size(group, &n) == MPI_SUCCESS && n > 0) {
        int *ranks = malloc(2 * sizeof *ranks * (size_t)n);
        MPI_Group all;
        /* Without memory nothing is opened, and MPI carries out what comes. */
        if (ranks != NULL && PMPI_Win_get_group(win, &all) == MPI_SUCCESS) {
            for (int i = 0; i < n; i++)
                ranks[i] = i;
            PMPI_Group_translate_ranks(group, n, ranks, all, ranks + n);
            PMPI_Group_free(&all);
            for (int i = 0; i < n; i++)
                if ((uint32_t)ranks[n + i] < w->n)
                    open_rank(w, &w->targets[ranks[n + i]], OPEN_START);
        }
        free(ranks);
    }
    order();
    return status;
}

int on_Win_complete(MPI_Win win)
{
    BEGIN(Win_complete)
    int status = next.Win_complete(win);
    if (w != NULL && status == MPI_SUCCESS) {
        settle(w);
        for (uint32_t i = 0; i < w->n; i++)
            atomic_store_explicit(&w->targets[i].open, 0, memory_order_relaxed);
    }
    order();
    return status;
}

int on_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    BEGIN(Win_post)
    (void)w;
    return next.Win_post(group, assert, win);
}

int on_Win_wait(MPI_Win win)
{
    BEGIN(Win_wait)
    (void)w;
    int status = next.Win_wait(win);
    order();
    return status;
}

int on_Win_test(MPI_Win win, int *flag)
{
    BEGIN(Win_test)
    (void)w;
    int status = next.Win_test(win, flag);
    order();
    return status;
}
