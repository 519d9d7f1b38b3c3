/* The interposed calls: X(name, parameters, arguments, whether it could be done at once (quick.h), what else of ours carries it out). `w`
 * is the window. */
#define PUT_ARGS(C) (const void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Win win)
#define GET_ARGS(C) (void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Win win)
#define ACC_ARGS(C) (const void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Op op, MPI_Win win)
#define GACC_ARGS(C) (const void *o, C oc, MPI_Datatype ot, void *r, C rc, MPI_Datatype rt, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Op op, MPI_Win win)
#define RPUT_ARGS(C) (const void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Win win, MPI_Request *request)
#define RGET_ARGS(C) (void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Win win, MPI_Request *request)
#define RACC_ARGS(C) (const void *o, C oc, MPI_Datatype ot, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Op op, MPI_Win win, MPI_Request *request)
#define RGACC_ARGS(C) (const void *o, C oc, MPI_Datatype ot, void *r, C rc, MPI_Datatype rt, int rank, MPI_Aint disp, C tc, MPI_Datatype tt, MPI_Op op, MPI_Win win, MPI_Request *request)

#define QUICK_PUT quick_transfer((void *)o, oc, ot, rank, disp, tc, tt, win, true)
#define QUICK_GET quick_transfer(o, oc, ot, rank, disp, tc, tt, win, false)
#define QUICK_ACC quick_accumulate(o, oc, ot, rank, disp, tc, tt, op, win)
#define PUT transfer(w, (void *)o, oc, ot, rank, disp, tc, tt, true)
#define GET transfer(w, o, oc, ot, rank, disp, tc, tt, false)
#define ACC accumulate(w, o, oc, ot, NULL, 0, tt, rank, disp, tc, tt, op, false)
#define GACC accumulate(w, o, oc, ot, r, rc, rt, rank, disp, tc, tt, op, true)

/* Of all sizes of counts: as C's int, and MPI_Count where the MPI has those. */
#define SIZED_OPERATIONS(X, C, S) \
    X(Put##S, PUT_ARGS(C), (o, oc, ot, rank, disp, tc, tt, win), QUICK_PUT, PUT) \
    X(Get##S, GET_ARGS(C), (o, oc, ot, rank, disp, tc, tt, win), QUICK_GET, GET) \
    X(Accumulate##S, ACC_ARGS(C), (o, oc, ot, rank, disp, tc, tt, op, win), QUICK_ACC, ACC) \
    X(Get_accumulate##S, GACC_ARGS(C), (o, oc, ot, r, rc, rt, rank, disp, tc, tt, op, win), false, GACC)
#define SIZED_REQUESTS(X, C, S) \
    X(Rput##S, RPUT_ARGS(C), (o, oc, ot, rank, disp, tc, tt, win, request), false, QUICK_PUT ? DONE : PUT) \
    X(Rget##S, RGET_ARGS(C), (o, oc, ot, rank, disp, tc, tt, win, request), false, QUICK_GET ? DONE : GET) \
    X(Raccumulate##S, RACC_ARGS(C), (o, oc, ot, rank, disp, tc, tt, op, win, request), false, ACC) \
    X(Rget_accumulate##S, RGACC_ARGS(C), (o, oc, ot, r, rc, rt, rank, disp, tc, tt, op, win, request), false, GACC)
#if MPI_VERSION >= 4
#define LARGE(LIST, X) LIST(X, MPI_Count, _c)
#else
#define LARGE(LIST, X)
#endif

/* Operations, those with a request, and synchronisation, in which `OURS` says how it is done. */
#define OPERATIONS_(X) \
    SIZED_OPERATIONS(X, int, ) LARGE(SIZED_OPERATIONS, X) \
    X(Fetch_and_op, (const void *o, void *r, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win), (o, r, t, rank, disp, op, win), \
      quick_fetch_and_op(o, r, t, rank, disp, op, win), fetch_and_op(w, o, r, t, rank, disp, op)) \
    X(Compare_and_swap, (const void *o, const void *c, void *r, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Win win), \
      (o, c, r, t, rank, disp, win), quick_compare_and_swap(o, c, r, t, rank, disp, win), compare_and_swap(w, o, c, r, t, rank, disp))
#define REQUESTS(X) SIZED_REQUESTS(X, int, ) LARGE(SIZED_REQUESTS, X)
#define SYNCHRONISATION(X) \
    X(Win_flush, (int rank, MPI_Win win), (rank, win), quick_flush(rank, win)) \
    X(Win_flush_local, (int rank, MPI_Win win), (rank, win), false) \
    X(Win_flush_all, (MPI_Win win), (win), false) \
    X(Win_flush_local_all, (MPI_Win win), (win), false) \
    X(Win_sync, (MPI_Win win), (win), false) \
    X(Win_lock, (int kind, int rank, int assert, MPI_Win win), (kind, rank, assert, win), false) \
    X(Win_unlock, (int rank, MPI_Win win), (rank, win), false) \
    X(Win_lock_all, (int assert, MPI_Win win), (assert, win), false) \
    X(Win_unlock_all, (MPI_Win win), (win), false) \
    X(Win_fence, (int assert, MPI_Win win), (assert, win), false) \
    X(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win), false) \
    X(Win_complete, (MPI_Win win), (win), false) \
    X(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win), false) \
    X(Win_wait, (MPI_Win win), (win), false) \
    X(Win_test, (MPI_Win win, int *flag), (win, flag), false)
/* What makes and ends windows, and what tells the program of them. */
#define WINDOWS(X) \
    X(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), (size, unit, info, comm, base, win), false) \
    X(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), (size, unit, info, comm, base, win), false) \
    X(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), (base, size, unit, info, comm, win), false) \
    X(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win), false) \
    LARGE_WINDOWS(X) \
    X(Win_free, (MPI_Win *win), (win), false) \
    X(Win_get_attr, (MPI_Win win, int key, void *value, int *flag), (win, key, value, flag), false) \
    X(Win_get_info, (MPI_Win win, MPI_Info *info), (win, info), false) \
    X(Type_free, (MPI_Datatype *type), (type), false) \
    X(Init, (int *argc, char ***argv), (argc, argv), false) \
    X(Init_thread, (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided), false) \
    X(Finalize, (void), (), false)
#if MPI_VERSION >= 4
#define LARGE_WINDOWS(X) \
    X(Win_allocate_c, (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), (size, unit, info, comm, base, win), false) \
    X(Win_allocate_shared_c, (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), (size, unit, info, comm, base, win), false) \
    X(Win_create_c, (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), (base, size, unit, info, comm, win), false)
#else
#define LARGE_WINDOWS(X)
#endif
