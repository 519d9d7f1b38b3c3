/* Places: the ranks of a communicator; a guard for each if one node has them all, or else which of them this node has.
 *
 * A place is made for the first window of a communicator and kept with it, as an attribute, because MPI has few communicators. Its
 * windows keep it, too, as a program may free the communicator first. All ranks come to the same answers in the same order. */
#include "onenode_mpi.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int key = MPI_KEYVAL_INVALID;
static place *places; /* the newest first */
static bool ended;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* Whether all processes started together. Others are MPI's: those it has spawned, and those of sessions alone. */
static bool in_world(MPI_Comm comm, int n)
{
    MPI_Group group, world;
    int *ranks = malloc(2 * sizeof *ranks * (size_t)n);
    if (ranks == NULL)
        return false;
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    PMPI_Comm_group(comm, &group), PMPI_Comm_group(MPI_COMM_WORLD, &world);
    bool all = PMPI_Group_translate_ranks(group, n, ranks, world, ranks + n) == MPI_SUCCESS;
    for (int i = 0; i < n; i++)
        all = all && ranks[n + i] != MPI_UNDEFINED;
    PMPI_Group_free(&group), PMPI_Group_free(&world);
    free(ranks);
    return all;
}

void end_without_memory(void)
{
    fprintf(stderr, "onenode-mpi: no memory for a window\n");
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

bool all_agree(bool good, MPI_Comm comm)
{
    int own = good, all = 0;
    return PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

bool shared_window(MPI_Aint size, int unit, MPI_Info info, MPI_Comm node, void *base, MPI_Win *win)
{
    MPI_Info own;
    if (info == MPI_INFO_NULL ? PMPI_Info_create(&own) : PMPI_Info_dup(info, &own))
        return false;
    PMPI_Info_set(own, "alloc_shared_noncontig", "true");
    int status = next.Win_allocate_shared(size, unit, own, node, base, win);
    PMPI_Info_free(&own);
    return status == MPI_SUCCESS;
}

/* Makes the guards and words of a place, in shared memory. */
static bool make_guards(place *p)
{
    void *own;
    p->guards = calloc((size_t)p->n, sizeof *p->guards);
    p->parts = calloc((size_t)p->n, sizeof *p->parts);
    p->words = (sizeof(words) + (size_t)p->n * sizeof(uint32_t) + LINE - 1) / LINE * LINE;
    p->slots = p->n <= MOST_RANKS ? (UINT64_C(1) << WINDOWS) - 1 : 0;
    MPI_Aint lines = 2 * LINE + (p->slots != 0 ? (MPI_Aint)(WINDOWS * p->words) : 0);
    bool good = shared_window(lines, 1, MPI_INFO_NULL, p->node, &own, &p->control) && p->guards != NULL && p->parts != NULL;
    for (int i = 0; good && i < p->n; i++) {
        MPI_Aint bytes;
        int unit;
        void *part;
        good = PMPI_Win_shared_query(p->control, i, &bytes, &unit, &part) == MPI_SUCCESS;
        /* All ranks find the same line, as a part lies alike within the pages of each. */
        if (good)
            p->guards[i] = (guard *)(((uintptr_t)part + LINE - 1) / LINE * LINE);
    }
    if (good)
        atomic_store_explicit(&p->guards[p->me]->held, 0, memory_order_seq_cst);
    /* Also the barrier after which all guards are free. */
    return all_agree(good, p->node);
}

static void close_place(place *p)
{
    if (p->control != MPI_WIN_NULL)
        next.Win_free(&p->control);
    if (p->node != p->comm && p->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&p->comm);
    PMPI_Comm_free(&p->node);
    PMPI_Group_free(&p->group);
    p->comm = MPI_COMM_NULL;
}

/* Ends it if nobody keeps it any more, which all ranks find at the same call. */
void leave_place(place *p)
{
    pthread_mutex_lock(&changing);
    bool last = --p->users == 0 && !ended;
    for (place **at = &places; last && *at != NULL; at = *at == p ? &p->next : &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    pthread_mutex_unlock(&changing);
    if (!last)
        return;
    if (p->comm != MPI_COMM_NULL)
        close_place(p);
    free(p->guards);
    free(p->parts);
    free(p->ranks);
    free(p);
}

/* The communicator goes. */
static int forget(MPI_Comm comm, int which, void *value, void *nothing)
{
    (void)comm, (void)which, (void)nothing;
    leave_place(value);
    return MPI_SUCCESS;
}

/* MPI may call `forget` only when the last request of a communicator ends, which is not at the same time on all ranks. */
static void forget_now(const MPI_Comm *comm)
{
    void *p;
    int found = 0;
    if (comm != NULL && *comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(*comm, key, &p, &found) == MPI_SUCCESS && found)
        PMPI_Comm_delete_attr(*comm, key);
}

int on_Comm_free(MPI_Comm *comm)
{
    forget_now(comm);
    return next.Comm_free(comm);
}

int on_Comm_disconnect(MPI_Comm *comm)
{
    forget_now(comm);
    return next.Comm_disconnect(comm);
}

/* Before MPI ends, what is left is freed, in an order that is the same on all ranks. */
static void end_places(void)
{
    ended = true;
    place *first = NULL;
    for (place *p = places, *rest; p != NULL; p = rest) {
        rest = p->next;
        place **at = &first;
        while (*at != NULL && (*at)->order < p->order)
            at = &(*at)->next;
        p->next = *at, *at = p;
    }
    for (; first != NULL; first = first->next)
        if (first->comm != MPI_COMM_NULL)
            close_place(first);
    places = NULL;
}

static int end_with_self(MPI_Comm comm, int which, void *value, void *nothing)
{
    (void)comm, (void)which, (void)value, (void)nothing;
    end_places();
    return MPI_SUCCESS;
}

void end_places_with_self(void)
{
    static _Atomic bool done;
    int own;
    if (!atomic_exchange(&done, true) && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_self, &own, NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, own, NULL);
}

/* Whether an epoch of any window has begun when the call that begins it returns. MPI does not promise it for windows over several nodes, and
 * MPICH's older device and a component of Open MPI wait for the epoch in the call that ends it. */
static bool begins_at_once(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    return PMPI_Get_library_version(version, &length) == MPI_SUCCESS && strstr(version, "MPICH") != NULL && strstr(version, "ch4") != NULL;
}

/* Several nodes have the ranks: finds which this one has. */
static bool list_ranks(place *p, MPI_Comm comm, int me)
{
    MPI_Group here, all;
    int *ranks = malloc(sizeof *ranks * (size_t)p->here);
    p->ranks = calloc((size_t)p->here, sizeof *p->ranks);
    p->parts = calloc((size_t)p->here, sizeof *p->parts);
    bool good = PMPI_Comm_split(comm, 0, me, &p->comm) == MPI_SUCCESS && begins_at_once();
    if (good && ranks != NULL && p->ranks != NULL) {
        PMPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
        for (int i = 0; i < p->here; i++)
            ranks[i] = i;
        PMPI_Comm_group(p->node, &here), PMPI_Comm_group(comm, &all);
        good = PMPI_Group_translate_ranks(here, p->here, ranks, all, p->ranks) == MPI_SUCCESS && p->parts != NULL;
        PMPI_Group_free(&here), PMPI_Group_free(&all);
    } else
        good = false;
    free(ranks);
    return all_agree(good, comm);
}

static place *make_place(MPI_Comm comm)
{
    int inter, me;
    place *p = calloc(1, sizeof *p);
    if (p == NULL)
        end_without_memory();
    p->control = MPI_WIN_NULL;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter || PMPI_Comm_rank(comm, &me) != MPI_SUCCESS
        || PMPI_Comm_size(comm, &p->n) != MPI_SUCCESS
        || PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &p->node) != MPI_SUCCESS) {
        free(p);
        return NULL;
    }
    PMPI_Comm_set_errhandler(p->node, MPI_ERRORS_RETURN);
    PMPI_Comm_size(p->node, &p->here);
    PMPI_Comm_group(comm, &p->group);
    int here;
    PMPI_Comm_rank(p->node, &here);
    p->me = (uint32_t)here;
    p->comm = p->here < p->n ? MPI_COMM_NULL : p->node;
    static _Atomic uint32_t made;
    int world;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    p->order = (uint64_t)(uint32_t)world << 32 | made++;
    PMPI_Bcast(&p->order, sizeof p->order, MPI_BYTE, 0, comm);
    if (!all_agree(in_world(comm, p->n), comm) || (p->here < p->n ? !list_ranks(p, comm, me) : !make_guards(p)))
        close_place(p);
    return p;
}

place *place_of(MPI_Comm comm)
{
    int initialized, found = 0;
    place *p;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized)
        return NULL;
    end_places_with_self(); /* unless MPI_Init has come here */
    pthread_mutex_lock(&changing);
    if (key == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    pthread_mutex_unlock(&changing);
    PMPI_Comm_get_attr(comm, key, &p, &found);
    if (!found) {
        p = make_place(comm);
        if (p == NULL)
            return NULL;
        p->users = 1;
        pthread_mutex_lock(&changing);
        p->next = places;
        places = p;
        pthread_mutex_unlock(&changing);
        PMPI_Comm_set_attr(comm, key, p);
    }
    if (p->comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&changing);
    p->users++;
    pthread_mutex_unlock(&changing);
    return p;
}
