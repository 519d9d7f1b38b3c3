/* Windows: how they are made and found, and what the program is told of them. */
#define _GNU_SOURCE
#include "onenode_mpi.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

enum { CHAINS = 256 };

static window nowhere; /* no handle is 0 */
_Thread_local window *last_window = &nowhere;
_Thread_local quick_state quick = {.window = &nowhere};
/* Windows never leave their chain, so threads may follow it at any time; a dead one is used again in the same chain. */
static window *_Atomic chains[CHAINS];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static window *_Atomic *chain_of(MPI_Win win)
{
    return &chains[(uintptr_t)win * 0x9e3779b97f4a7c15ull >> 56];
}

window *find_window(MPI_Win win)
{
    window *w = atomic_load_explicit(chain_of(win), memory_order_acquire);
    for (; w != NULL; w = w->next)
        if (atomic_load_explicit(&w->handle, memory_order_acquire) == win && win != nowhere.handle)
            return quick.window = watched ? &nowhere : w, last_window = w;
    return NULL;
}

/* Takes a handle out of the table: that of a window that another thread is about to take out, when MPI has made a new one of it. */
static void forget(MPI_Win win)
{
    window *w = *chain_of(win);
    while (w != NULL && w->handle != win)
        w = w->next;
    if (w != NULL)
        atomic_store_explicit(&w->handle, nowhere.handle, memory_order_release);
}

/* A new window that is MPI's alone. */
static int foreign(int status, const MPI_Win *win)
{
    if (status == MPI_SUCCESS) {
        pthread_mutex_lock(&changing);
        forget(*win);
        pthread_mutex_unlock(&changing);
    }
    return status;
}

static void insert(MPI_Win win, window *new)
{
    window *_Atomic *chain = chain_of(win);
    pthread_mutex_lock(&changing);
    forget(win);
    window *w = *chain;
    while (w != NULL && w->handle != nowhere.handle)
        w = w->next;
    bool fresh = w == NULL;
    if (fresh)
        w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->n = new->n, w->targets = new->targets, w->place = new->place, w->flavor = new->flavor;
        w->slot = new->slot;
        w->by_mpi = false;
        w->fences = w->awaited = 0;
        w->posted = w->started = false;
        memcpy(w->noncontig, new->noncontig, sizeof w->noncontig);
        w->open = 0;
        w->issued = w->done = 0;
        atomic_store_explicit(&w->handle, win, memory_order_release);
        if (fresh) {
            w->next = *chain;
            atomic_store_explicit(chain, w, memory_order_release);
        }
    }
    pthread_mutex_unlock(&changing);
    if (w == NULL)
        end_without_memory();
}

/* The bytes that shared memory can still take: MPI would find out by a signal. */
static unsigned long long room(void)
{
    struct statvfs fs;
    return statvfs("/dev/shm", &fs) == 0 ? (unsigned long long)fs.f_bavail * fs.f_frsize : 0;
}

static bool info_has(MPI_Info info, const char *key, char *value, int most)
{
    int flag = 0;
    value[0] = '\0';
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, key, most, value, &flag);
    return flag != 0;
}

/* Fills in the parts of all ranks of a place. True on all of them: each can serve them, and there is room. */
static bool agree(const place *p, MPI_Aint size, MPI_Aint unit, bool able, MPI_Info info, MPI_Comm comm)
{
    char value[8];
    bool slots = !(info_has(info, "no_locks", value, sizeof value - 1) && strcmp(value, "true") == 0);
    part own = {(unsigned long long)size, (unsigned long long)unit, able, room(), slots ? p->slots : 0};
    if (PMPI_Allgather(&own, sizeof own, MPI_BYTE, p->parts, sizeof own, MPI_BYTE, comm) != MPI_SUCCESS)
        return false;
    /* MPI adds a page or so for each rank. */
    __int128 wanted = 0, least = -1;
    for (int i = 0; i < p->n; i++) {
        wanted += (__int128)p->parts[i].size + (64 << 10);
        least = least < 0 || p->parts[i].free < least ? p->parts[i].free : least;
        able = able && p->parts[i].able;
    }
    return able && wanted <= least;
}

/* Adopts a shared window of MPI's: asks for the addresses, and puts it in the table. False if any rank cannot; `p` is then still
 * the caller's. */
static bool adopt(MPI_Win win, place *p, MPI_Comm comm, int flavor, const char *noncontig)
{
    uint64_t slots = UINT64_MAX;
    for (int i = 0; i < p->n; i++)
        slots &= p->parts[i].slots;
    size_t words_at = slots != 0 ? LINE + p->words * (size_t)__builtin_ctzll(slots) : 0;
    window new = {.slot = slots & -slots, .n = (uint32_t)p->n, .place = p, .flavor = flavor, .targets = calloc((size_t)p->n, sizeof(target))};
    snprintf(new.noncontig, sizeof new.noncontig, "%s", noncontig);
    bool good = new.targets != NULL;
    for (int i = 0; good && i < p->n; i++) {
        MPI_Aint bytes;
        int unit;
        void *base = NULL;
        good = p->parts[i].size == 0 || PMPI_Win_shared_query(win, i, &bytes, &unit, &base) == MPI_SUCCESS;
        new.targets[i].base = base, new.targets[i].size = (size_t)p->parts[i].size, new.targets[i].unit = (size_t)p->parts[i].unit;
        char *shared = p->memory + (size_t)i * p->each;
        new.targets[i].guard = (guard *)shared;
        new.targets[i].words = words_at != 0 ? (words *)(shared + words_at) : NULL;
    }
    if (good && new.slot != 0)
        memset(new.targets[p->me].words, 0, p->words);
    atomic_thread_fence(memory_order_seq_cst);
    if (all_agree(good, comm)) {
        p->slots &= ~new.slot;
        insert(win, &new);
        return true;
    }
    free(new.targets);
    return false;
}

/* Whether the arguments are plainly valid, so that all ranks come to `agree`; if not, MPI reports the error. */
static bool is_plain(MPI_Aint size, MPI_Aint unit, MPI_Comm comm, const void *base, const MPI_Win *win)
{
    return size >= 0 && unit > 0 && unit <= INT32_MAX && comm != MPI_COMM_NULL && base != NULL && win != NULL;
}

/* Makes a window on one node. False: it is not made, and `p` is left. */
static bool allocate(place *p, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    char value[MPI_MAX_INFO_VAL + 1], noncontig[8];
    bool able = !(info_has(info, "alloc_shm", value, MPI_MAX_INFO_VAL) && strcmp(value, "false") == 0)
                && !(info_has(info, "mpi_minimum_memory_alignment", value, MPI_MAX_INFO_VAL) && atol(value) > 8);
    info_has(info, "alloc_shared_noncontig", noncontig, sizeof noncontig - 1);
    MPI_Win new;
    void *start;
    bool all = agree(p, size, unit, able, info, comm) && all_agree(shared_window(size, (int)unit, info, comm, &start, &new), comm);
    bool adopted = all && adopt(new, p, comm, MPI_WIN_FLAVOR_ALLOCATE, noncontig);
    if (adopted) {
        *win = new;
        *(void **)base = size != 0 ? start : NULL;
    } else {
        if (all)
            next.Win_free(&new);
        leave_place(p);
    }
    return adopted;
}

/* Serves the parts that this node has of MPI's window over several nodes; accumulates stay MPI's. */
static void adopt_near(place *p, MPI_Aint size, MPI_Aint unit, MPI_Comm comm, char *base, MPI_Win win)
{
    size_t here = (size_t)p->here;
    window new = {.n = (uint32_t)p->n, .place = p, .flavor = MPI_WIN_FLAVOR_ALLOCATE, .targets = calloc((size_t)p->n, sizeof(target))};
    spot *spots = malloc(here * sizeof *spots), own = {.size = (unsigned long long)size, .unit = (unsigned long long)unit};
    char **found = malloc(here * sizeof *found);
    MPI_Comm node = MPI_COMM_NULL;
    int me;
    PMPI_Comm_rank(comm, &me);
    tell_spot(base, &own);
    bool good = node_of(comm, me, &node) && all_agree(new.targets != NULL && spots != NULL && found != NULL, node)
                && PMPI_Allgather(&own, sizeof own, MPI_BYTE, spots, sizeof own, MPI_BYTE, node) == MPI_SUCCESS;
    if (good)
        find_spots(spots, p->here, found);
    if (node != MPI_COMM_NULL) {
        PMPI_Barrier(node);
        PMPI_Comm_free(&node);
    }
    if (own.told)
        memcpy(base, &own.kept, sizeof own.kept);
    PMPI_Barrier(comm); /* before anyone puts anything there */
    if (good) {
        for (int i = 0; i < p->n; i++)
            new.targets[i].far = true;
        found[p->me] = base; /* however MPI has made it */
        for (int i = 0; i < p->here; i++)
            if (found[i] != NULL) {
                target *t = &new.targets[p->ranks[i]];
                t->far = false, t->base = found[i], t->size = (size_t)spots[i].size, t->unit = (size_t)spots[i].unit;
            }
        insert(win, &new);
    } else {
        free(new.targets);
        leave_place(p);
    }
    free(spots), free(found);
}

/* The program's own shared window is made by MPI as it stands, and then adopted or not. */
static void adopt_shared(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win win)
{
    place *p = place_of(comm);
    if (p == NULL)
        return;
    if (p->ranks != NULL || !agree(p, size, unit, true, info, comm) || !adopt(win, p, comm, MPI_WIN_FLAVOR_SHARED, ""))
        leave_place(p);
}

/* Both forms, for each type of a unit. */
#define ALLOCATE(S, U) \
    int on_Win_allocate##S(MPI_Aint size, U unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) \
    { \
        place *p = is_plain(size, unit, comm, base, win) ? place_of(comm) : NULL; \
        bool spread = p != NULL && p->ranks != NULL; \
        if (p != NULL && !spread && allocate(p, size, unit, info, comm, base, win)) \
            return MPI_SUCCESS; \
        int status = foreign(next.Win_allocate##S(size, unit, info, comm, base, win), win); \
        if (spread && status == MPI_SUCCESS) \
            adopt_near(p, size, unit, comm, *(char **)base, *win); \
        else if (spread) \
            leave_place(p); \
        return status; \
    } \
    int on_Win_allocate_shared##S(MPI_Aint size, U unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) \
    { \
        int status = foreign(next.Win_allocate_shared##S(size, unit, info, comm, base, win), win); \
        if (status == MPI_SUCCESS && is_plain(size, unit, comm, base, win)) \
            adopt_shared(size, unit, info, comm, *win); \
        return status; \
    } \
    int on_Win_create##S(void *base, MPI_Aint size, U unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) \
    { \
        return foreign(next.Win_create##S(base, size, unit, info, comm, win), win); \
    }
ALLOCATE(, int)
#if MPI_VERSION >= 4
ALLOCATE(_c, MPI_Aint)
#endif

int on_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return foreign(next.Win_create_dynamic(info, comm, win), win);
}

int on_Win_free(MPI_Win *win)
{
    window *w = win != NULL ? window_of(*win) : NULL;
    tell_mpi(w);
    target *targets = w != NULL ? w->targets : NULL;
    place *p = w != NULL ? w->place : NULL;
    uint64_t slot = w != NULL ? w->slot : 0;
    int status = next.Win_free(win);
    if (w == NULL || status != MPI_SUCCESS)
        return status;
    pthread_mutex_lock(&changing);
    if (w->targets == targets) { /* not another window already */
        w->n = 0;
        w->open = 0;
        w->targets = NULL;
        atomic_store_explicit(&w->handle, nowhere.handle, memory_order_release);
    }
    p->slots |= slot;
    pthread_mutex_unlock(&changing);
    leave_place(p);
    free(targets);
    return status;
}

int on_Type_free(MPI_Datatype *type)
{
    MPI_Datatype handle = type != NULL ? *type : MPI_DATATYPE_NULL;
    if (handle != MPI_DATATYPE_NULL)
        forget_type(handle);
    return next.Type_free(type);
}

/* MPI's window is a shared one if one node has all ranks, whatever the program has made. */
int on_Win_get_attr(MPI_Win win, int key, void *value, int *flag)
{
    int status = next.Win_get_attr(win, key, value, flag);
    window *w = key == MPI_WIN_CREATE_FLAVOR && status == MPI_SUCCESS && *flag ? window_of(win) : NULL;
    if (w != NULL)
        *(int **)value = &w->flavor;
    return status;
}

int on_Win_get_info(MPI_Win win, MPI_Info *info)
{
    int status = next.Win_get_info(win, info);
    window *w = status == MPI_SUCCESS ? window_of(win) : NULL;
    if (w == NULL || w->flavor != MPI_WIN_FLAVOR_ALLOCATE || w->place->ranks != NULL)
        return status;
    const char *given = w->noncontig;
#ifdef OPEN_MPI
    char value[8];
    if (info_has(*info, "blocking_fence", value, sizeof value - 1)) /* its shared windows' own */
        PMPI_Info_delete(*info, "blocking_fence");
    if (OMPI_MAJOR_VERSION < 5 && !info_has(*info, "no_locks", value, sizeof value - 1))
        PMPI_Info_set(*info, "no_locks", "false");
    if (*given == '\0')
        PMPI_Info_delete(*info, "alloc_shared_noncontig");
#else
    if (*given == '\0')
        given = "false";
#endif
    if (*given != '\0')
        PMPI_Info_set(*info, "alloc_shared_noncontig", given);
    return status;
}

/* Fortran's calls of MPI_Win_get_attr do not come by C's. */
static inline void tell_fortran(MPI_Win win, MPI_Aint *value, int found)
{
    window *w = found ? window_of(win) : NULL;
    if (w != NULL)
        *value = w->flavor;
}

#ifdef OPEN_MPI
/* One function with many names, which mpi_f08's calls, too. */
#define FORTRAN(name) \
    PUBLIC void name(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *failed) \
    { \
        static void (*mpi)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Fint *, MPI_Fint *); \
        if (mpi == NULL) \
            *(void **)&mpi = dlsym(RTLD_NEXT, #name); \
        mpi(win, key, value, flag, failed); \
        tell_fortran(PMPI_Win_f2c(*win), value, *key == MPI_WIN_CREATE_FLAVOR && *failed == MPI_SUCCESS && *flag != 0); \
    }
FORTRAN(mpi_win_get_attr) FORTRAN(mpi_win_get_attr_) FORTRAN(mpi_win_get_attr__) FORTRAN(MPI_WIN_GET_ATTR)
FORTRAN(pmpi_win_get_attr) FORTRAN(pmpi_win_get_attr_) FORTRAN(pmpi_win_get_attr__) FORTRAN(PMPI_WIN_GET_ATTR)
#elif defined MPICH_VERSION
/* What all of MPICH's Fortran calls, with keys that are C's or one more. */
PUBLIC int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int kind)
{
    static int (*mpi)(MPI_Win, int, void *, int *, int);
    if (mpi == NULL)
        *(void **)&mpi = dlsym(RTLD_NEXT, "MPII_Win_get_attr");
    int status = mpi(win, key, value, flag, kind);
    enum { AS_ADDRESS = 1 };
    if (kind == AS_ADDRESS)
        tell_fortran(win, value, (key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_CREATE_FLAVOR + 1) && status == MPI_SUCCESS && *flag);
    return status;
}
#endif
