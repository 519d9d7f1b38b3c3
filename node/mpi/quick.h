/* The shortest way through the commonest calls: on the window and of the predefined type that this thread has used last. Each is carried
 * out if all is as usual; if it is not, the call takes the long way, with the same arguments and nothing done. */
#include "onenode_mpi.h"

#define QUICK static inline __attribute__((always_inline))

/* Whether it is a rank of the window used last, in an epoch of one of these kinds. */
QUICK bool is_quick(MPI_Win win, int rank, uint8_t all, uint8_t one, target **at)
{
    window *w = quick.window;
    if (UNLIKELY(atomic_load_explicit(&w->handle, memory_order_acquire) != win || (uint32_t)rank >= w->n))
        return false;
    *at = &w->targets[(uint32_t)rank];
    return LIKELY((atomic_load_explicit(&w->open, memory_order_relaxed) & all) | (atomic_load_explicit(&(*at)->open, memory_order_relaxed) & one));
}

/* One value of 4 or 8 bytes. */
QUICK bool quick_transfer(void *o, MPI_Count oc, MPI_Datatype ot, int rank, MPI_Aint disp, MPI_Count tc, MPI_Datatype tt, MPI_Win win, bool put)
{
    target *t;
    size_t offset;
    if (UNLIKELY(!is_quick(win, rank, UINT8_MAX, UINT8_MAX, &t) || oc != 1 || tc != 1 || ot != quick.type || tt != quick.type || !is_buffer(o)
                 || !is_inside(t, disp, quick.bytes, &offset)))
        return false;
    void *to = put ? t->base + offset : o;
    const void *from = put ? o : t->base + offset;
    if (LIKELY(quick.bytes == 8)) /* one instruction */
        memcpy(to, from, 8);
    else if (LIKELY(quick.bytes == 4))
        memcpy(to, from, 4);
    else
        return false;
    if (put)
        quick.stored = true;
    return true;
}

/* Whether it is one integer of 4 or 8 bytes that a locked instruction updates. */
QUICK bool is_quick_integer(MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win, void **at)
{
    target *t;
    size_t offset;
    if (UNLIKELY(!is_quick(win, rank, UINT8_MAX, UINT8_MAX, &t) || t->guard == NULL || type != quick.type || !quick.integer
                 || !is_inside(t, disp, quick.bytes, &offset)))
        return false;
    *at = t->base + offset;
    return LIKELY(((uintptr_t)*at & (quick.bytes - 1)) == 0);
}

QUICK bool quick_fetch_and_op(const void *o, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    void *theirs;
    if (UNLIKELY(!is_quick_integer(type, rank, disp, win, &theirs) || op != MPI_SUM || !is_buffer(o) || !is_buffer(result)))
        return false;
    quick.stored = true;
    if (LIKELY(quick.bytes == 8)) {
        uint64_t value;
        memcpy(&value, o, 8);
        value = __atomic_fetch_add((uint64_t *)theirs, value, __ATOMIC_ACQ_REL);
        memcpy(result, &value, 8);
    } else {
        uint32_t value;
        memcpy(&value, o, 4);
        value = __atomic_fetch_add((uint32_t *)theirs, value, __ATOMIC_ACQ_REL);
        memcpy(result, &value, 4);
    }
    return true;
}

QUICK bool quick_accumulate(const void *o, MPI_Count oc, MPI_Datatype ot, int rank, MPI_Aint disp, MPI_Count tc, MPI_Datatype tt,
                            MPI_Op op, MPI_Win win)
{
    uint64_t nowhere;
    return oc == 1 && tc == 1 && ot == tt && quick_fetch_and_op(o, &nowhere, tt, rank, disp, op, win);
}

QUICK bool quick_compare_and_swap(const void *o, const void *expected, void *result, MPI_Datatype type, int rank,
                                  MPI_Aint disp, MPI_Win win)
{
    void *theirs;
    if (UNLIKELY(!is_quick_integer(type, rank, disp, win, &theirs) || !is_buffer(o) || !is_buffer(expected) || !is_buffer(result)))
        return false;
    if (LIKELY(quick.bytes == 8))
        swap_8(theirs, o, expected, result);
    else
        swap_4(theirs, o, expected, result);
    return true;
}

QUICK bool quick_flush(int rank, MPI_Win win)
{
    target *t;
    if (UNLIKELY(!is_quick(win, rank, OPEN_ALL, OPEN_LOCK, &t) || !is_done(t) || quick.calls == UINT8_MAX))
        return false;
    quick.calls++;
    order_flush();
    return true;
}
