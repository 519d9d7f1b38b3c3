/* Places: the ranks of a communicator; a guard and words for each if one node has them all, or else which of them this node has.
 *
 * A place is made for the first window of a communicator and kept with it, as an attribute. Its windows keep it, too, as a program may
 * free the communicator first. It has nothing of MPI's that takes other ranks to free, because MPI_Comm_free need not wait for them,
 * and no communicator, because MPI has few: what all ranks do together, they do on the program's, as the call that they are in may. */
#include "onenode_mpi.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static int key = MPI_KEYVAL_INVALID;
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

MPI_Errhandler return_errors(MPI_Comm comm)
{
    MPI_Errhandler theirs;
    PMPI_Comm_get_errhandler(comm, &theirs);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return theirs;
}

void restore_errors(MPI_Comm comm, MPI_Errhandler theirs)
{
    PMPI_Comm_set_errhandler(comm, theirs);
    PMPI_Errhandler_free(&theirs);
}

bool node_of(MPI_Comm comm, int me, MPI_Comm *node)
{
    MPI_Errhandler theirs = return_errors(comm);
    int status = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, node);
    restore_errors(comm, theirs);
    if (status != MPI_SUCCESS)
        *node = MPI_COMM_NULL;
    return status == MPI_SUCCESS;
}

bool shared_window(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    MPI_Info own;
    if (info == MPI_INFO_NULL ? PMPI_Info_create(&own) : PMPI_Info_dup(info, &own))
        return false;
    PMPI_Info_set(own, "alloc_shared_noncontig", "true");
    MPI_Errhandler theirs = return_errors(comm);
    int status = next.Win_allocate_shared(size, unit, own, comm, base, win);
    restore_errors(comm, theirs);
    PMPI_Info_free(&own);
    return status == MPI_SUCCESS;
}

/* Makes the guards and words of a place, in memory that all its ranks map. Each takes its part from the system, so that it lies near. */
static bool make_guards(place *p, MPI_Comm comm)
{
    p->parts = calloc((size_t)p->n, sizeof *p->parts);
    p->words = (sizeof(words) + (size_t)p->n * sizeof(uint32_t) + LINE - 1) / LINE * LINE;
    p->slots = p->n <= MOST_RANKS ? (UINT64_C(1) << WINDOWS) - 1 : 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    p->each = (LINE + (p->slots != 0 ? WINDOWS * p->words : 0) + page - 1) / page * page;
    char file[64] = "";
    unsigned long long number;
    int here = -1;
    if (p->me == 0 && getrandom(&number, sizeof number, 0) == sizeof number) {
        snprintf(file, sizeof file, "/dev/shm/onenode-mpi-%016llx", number);
        here = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    bool good = PMPI_Bcast(file, sizeof file, MPI_CHAR, 0, comm) == MPI_SUCCESS && p->parts != NULL;
    if (p->me != 0)
        here = open(file, O_RDWR | O_CLOEXEC);
    good = good && here >= 0 && posix_fallocate(here, (off_t)(p->me * p->each), (off_t)p->each) == 0;
    void *memory = good ? mmap(NULL, (size_t)p->n * p->each, PROT_READ | PROT_WRITE, MAP_SHARED, here, 0) : MAP_FAILED;
    p->memory = memory != MAP_FAILED ? memory : NULL;
    if (here >= 0)
        close(here);
    good = all_agree(p->memory != NULL, comm);
    if (p->me == 0 && here >= 0)
        unlink(file);
    return good;
}

/* Ends it if nobody keeps it any more. */
void leave_place(place *p)
{
    pthread_mutex_lock(&changing);
    bool last = --p->users == 0;
    pthread_mutex_unlock(&changing);
    if (!last)
        return;
    if (p->memory != NULL)
        munmap(p->memory, (size_t)p->n * p->each);
    PMPI_Group_free(&p->group);
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

/* Whether an epoch of any window has begun when the call that begins it returns. MPI does not promise it for windows over several nodes, and
 * MPICH's older device and a component of Open MPI wait for the epoch in the call that ends it. */
static bool begins_at_once(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    return PMPI_Get_library_version(version, &length) == MPI_SUCCESS && strstr(version, "MPICH") != NULL && strstr(version, "ch4") != NULL;
}

/* Several nodes have the ranks: finds which this one has. */
static bool list_ranks(place *p, MPI_Comm comm, MPI_Comm node)
{
    MPI_Group here;
    int *ranks = malloc(sizeof *ranks * (size_t)p->here);
    p->ranks = calloc((size_t)p->here, sizeof *p->ranks);
    bool good = begins_at_once() && ranks != NULL && p->ranks != NULL;
    for (int i = 0; good && i < p->here; i++)
        ranks[i] = i;
    PMPI_Comm_group(node, &here);
    good = good && PMPI_Group_translate_ranks(here, p->here, ranks, p->group, p->ranks) == MPI_SUCCESS;
    PMPI_Group_free(&here);
    free(ranks);
    return all_agree(good, comm);
}

/* NULL on all ranks: MPI has no communicator for it now, or it is none of one group. */
static place *make_place(MPI_Comm comm)
{
    int inter, me, n, here;
    MPI_Comm node;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter || PMPI_Comm_rank(comm, &me) != MPI_SUCCESS
        || PMPI_Comm_size(comm, &n) != MPI_SUCCESS || !node_of(comm, me, &node))
        return NULL;
    place *p = calloc(1, sizeof *p);
    if (p == NULL)
        end_without_memory();
    p->n = n;
    PMPI_Comm_size(node, &p->here);
    PMPI_Comm_rank(node, &here);
    p->me = (uint32_t)here;
    PMPI_Comm_group(comm, &p->group);
    p->serves = all_agree(in_world(comm, n), comm) && (p->here < n ? list_ranks(p, comm, node) : make_guards(p, comm));
    PMPI_Comm_free(&node);
    return p;
}

place *place_of(MPI_Comm comm)
{
    int initialized, found = 0;
    place *p;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized)
        return NULL;
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
        PMPI_Comm_set_attr(comm, key, p);
    }
    if (!p->serves)
        return NULL;
    pthread_mutex_lock(&changing);
    p->users++;
    pthread_mutex_unlock(&changing);
    return p;
}
