/* Synchronisation. MPI does it; a flush needs MPI only for operations that MPI has.
 *
 * A rank's state is changed after MPI has agreed, so an error leaves it as it was. Threads that call at the same time have to be
 * ordered by the program, so the flags are relaxed atomics. */
#include "onenode_mpi.h"
#include <stdlib.h>

_Thread_local uint32_t calls;

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
    order();
    poll(w);
    return true;
}

/* The rank that a flush is about, or NULL if it is not locked. */
static inline target *flushed(window *w, int rank)
{
    return w != NULL ? locked_target_of(w, rank) : NULL;
}

/* Whether MPI has nothing under way to it. */
static inline bool is_done(target *t)
{
    return t != NULL && get(&t->issued) == get(&t->done);
}

int on_Win_flush(int rank, MPI_Win win)
{
    window *w = window_of(win);
    target *t = flushed(w, rank);
    if (LIKELY(is_ours(w, COUNT_Win_flush, is_done(t))))
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
    if (LIKELY(is_ours(w, COUNT_Win_flush_local, is_done(flushed(w, rank)))))
        return MPI_SUCCESS;
    return next.Win_flush_local(rank, win);
}

/* Whether a flush of all ranks has nothing to flush in MPI, and is no error. */
static inline bool all_done(window *w)
{
    if (UNLIKELY(get(&w->issued) != get(&w->done)))
        return false;
    if (is_locked_all(w))
        return true;
    for (uint32_t i = 0; i < w->n; i++)
        if (atomic_load_explicit(&w->targets[i].open, memory_order_relaxed) & OPEN_LOCK)
            return true;
    return false;
}

int on_Win_flush_all(MPI_Win win)
{
    window *w = window_of(win);
    if (LIKELY(is_ours(w, COUNT_Win_flush_all, w != NULL && all_done(w))))
        return MPI_SUCCESS;
    uint32_t issued = w != NULL ? get(&w->issued) : 0;
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
    return next.Win_flush_local_all(win);
}

int on_Win_sync(MPI_Win win)
{
    window *w = window_of(win);
    if (LIKELY(is_ours(w, COUNT_Win_sync, w != NULL && is_locked_all(w))))
        return MPI_SUCCESS;
    order();
    return next.Win_sync(win);
}

/* The rest is MPI's: the window, if it is one of ours. */
#define BEGIN(name) \
    window *w = window_of(win); \
    COUNT(name, w == NULL ? FOREIGN : PASSED); \
    order();

static void open_rank(window *w, int rank, uint8_t how)
{
    if ((uint32_t)rank < w->n)
        atomic_fetch_or_explicit(&w->targets[rank].open, how, memory_order_relaxed);
    atomic_fetch_and_explicit(&w->open, (uint8_t)~OPEN_FENCE, memory_order_relaxed);
}

static void close_all(window *w, uint8_t how)
{
    for (uint32_t i = 0; i < w->n; i++)
        atomic_fetch_and_explicit(&w->targets[i].open, (uint8_t)~how, memory_order_relaxed);
}

int on_Win_lock(int kind, int rank, int assert, MPI_Win win)
{
    BEGIN(Win_lock)
    int status = next.Win_lock(kind, rank, assert, win);
    if (w != NULL && status == MPI_SUCCESS)
        open_rank(w, rank, OPEN_LOCK);
    order();
    return status;
}

int on_Win_unlock(int rank, MPI_Win win)
{
    BEGIN(Win_unlock)
    target *t = w != NULL && (uint32_t)rank < w->n ? &w->targets[rank] : NULL;
    uint32_t issued = t != NULL ? get(&t->issued) : 0;
    int status = next.Win_unlock(rank, win);
    if (t != NULL && status == MPI_SUCCESS) {
        set_done(&t->done, issued);
        atomic_fetch_and_explicit(&t->open, (uint8_t)~OPEN_LOCK, memory_order_relaxed);
    }
    order();
    return status;
}

int on_Win_lock_all(int assert, MPI_Win win)
{
    BEGIN(Win_lock_all)
    int status = next.Win_lock_all(assert, win);
    if (w != NULL && status == MPI_SUCCESS)
        atomic_store_explicit(&w->open, OPEN_ALL, memory_order_relaxed);
    order();
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
    BEGIN(Win_unlock_all)
    int status = next.Win_unlock_all(win);
    if (w != NULL && status == MPI_SUCCESS) {
        settle(w);
        atomic_fetch_and_explicit(&w->open, (uint8_t)~OPEN_ALL, memory_order_relaxed);
    }
    order();
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
                open_rank(w, ranks[n + i], OPEN_START);
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
        close_all(w, OPEN_START);
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
