/* The interposed names. Each MPI_x and PMPI_x of names.h is defined here, because Fortran's wrappers and tools call either.
 *
 * A tool that defines MPI_x stays in place. If it comes before this library it calls PMPI_x, which is ours. If it comes behind it,
 * our MPI_x calls the tool's. */
#define _GNU_SOURCE
#include "quick.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

calls_of_mpi next;
bool watched;
static calls_of_mpi tool; /* NULL: none */

/* The operation is ours, or goes on to MPI and is counted as under way. */
static inline int passed(window *w, int rank, int status)
{
    if (rank != MPI_PROC_NULL && status == MPI_SUCCESS)
        mark_issued(w, rank);
    return status;
}

/* Ours are complete, so MPI makes a request that is: that of a message to no rank. */
static int completed(MPI_Request *request)
{
    static const char nothing;
    poll();
    return PMPI_Isend(&nothing, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

static int refused(MPI_Win win, outcome why)
{
    int error = why == OUTSIDE ? MPI_ERR_RMA_RANGE : MPI_ERR_NO_MEM;
    PMPI_Win_call_errhandler(win, error);
    return error;
}

/* An operation: ours if it is `possible` and `ours` says so, which ends with `result`; else MPI's. */
#define OPERATION(name, parameters, arguments, possible, ours, result) \
    static __attribute__((noinline)) int on_##name parameters \
    { \
        window *w = window_of(win); \
        outcome did = LIKELY(possible) ? (ours) : PASS; \
        if (LIKELY(did == DONE)) { \
            COUNT(name, OURS); \
            return result; \
        } \
        if (did != PASS) \
            return refused(win, did); \
        COUNT(name, w == NULL ? FOREIGN : PASSED); \
        let_mpi_in(w, rank); \
        int status = next.name arguments; \
        return w == NULL ? status : passed(w, rank, status); \
    }
#define X(name, parameters, arguments, quick, ours) OPERATION(name, parameters, arguments, w != NULL, ours, MPI_SUCCESS)
OPERATIONS_(X)
#undef X
#define X(name, parameters, arguments, quick, ours) \
    OPERATION(name, parameters, arguments, w != NULL && request != NULL && locked_target_of(w, rank) != NULL, ours, completed(request))
REQUESTS(X)
#undef X

#define X(name, parameters, arguments, quickly, ...) \
    PUBLIC int PMPI_##name parameters { return LIKELY(quickly) ? MPI_SUCCESS : on_##name arguments; } \
    PUBLIC int MPI_##name parameters \
    { \
        if (LIKELY(quickly)) \
            return MPI_SUCCESS; \
        return UNLIKELY(tool.name != NULL) ? tool.name arguments : on_##name arguments; \
    }
OPERATIONS_(X) REQUESTS(X) SYNCHRONISATION(X) WINDOWS(X)
#undef X

/* The file that an address is from. */
static const char *file_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

static void *find(const char *pmpi, void **tools)
{
    void *own = dlsym(RTLD_NEXT, pmpi), *other = dlsym(RTLD_NEXT, pmpi + 1);
    *tools = other != NULL && strcmp(file_of(other), file_of(own)) != 0 ? other : NULL;
    watched |= *tools != NULL;
    return own;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The MPI that this library is built for: its own, whatever the program has. */
static const char *own_mpi(void)
{
    void *self = dlopen(file_of((void *)&next), RTLD_LAZY | RTLD_NOLOAD);
    return base_name(file_of(self != NULL ? dlsym(self, "PMPI_Comm_rank") : NULL));
}

/* Finds an MPI beside that one. */
static int other_mpi(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *name = base_name(info->dlpi_name != NULL ? info->dlpi_name : "");
    bool is_mpi = strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0 || strncmp(name, "libmpi_abi.so", 13) == 0;
    if (is_mpi && strcmp(name, own_mpi()) != 0) {
        *(const char **)found = info->dlpi_name;
        return 1;
    }
    return 0;
}

/* The MPI beside ours; NULL: none. */
static const char *their_mpi(void)
{
    const char *theirs = NULL;
    dl_iterate_phdr(other_mpi, &theirs);
    return theirs;
}

/* Starts the program again without this library, which cannot pass on calls whose arguments have other types; or with the one for the
 * standard ABI, if that is the program's and onenode-mpi has one. */
static void leave(char **argv, const char *why)
{
    const char *preloaded = getenv("LD_PRELOAD"), *here = file_of((void *)&next), *abi = getenv("ONENODE_MPI_ABI");
    const char *instead = strstr(why, "libmpi_abi.so") != NULL && abi != NULL && strcmp(abi, here) != 0 ? abi : "";
    if (*instead == '\0')
        fprintf(stderr, "onenode-mpi: the program is linked to %s, this library is for %s; going on without it\n", why, own_mpi());
    size_t most = (preloaded != NULL ? strlen(preloaded) : 0) + strlen(instead) + 2;
    char *rest = calloc(1, most);
    for (const char *at = preloaded; rest != NULL && at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ": "), used = strlen(rest);
        bool own = length == strlen(here) && strncmp(at, here, length) == 0;
        const char *kept = own ? instead : at;
        int bytes = (int)(own ? strlen(instead) : length);
        if (bytes > 0)
            snprintf(rest + used, most - used, "%s%.*s", used > 0 ? ":" : "", bytes, kept);
        at += length + (at[length] != '\0');
    }
    if (rest != NULL && preloaded != NULL && strstr(rest, here) == NULL && strcmp(rest, preloaded) != 0) {
        *rest != '\0' ? setenv("LD_PRELOAD", rest, 1) : unsetenv("LD_PRELOAD");
        execv("/proc/self/exe", argv);
    }
    fprintf(stderr, "onenode-mpi: LD_PRELOAD cannot be changed; set it without %s\n", here);
    _exit(1);
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
    (void)argc;
    void *tools;
    const char *missing = NULL;
#define X(name, ...) \
    *(void **)&next.name = find("PMPI_" #name, &tools), *(void **)&tool.name = tools; \
    if (next.name == NULL) \
        missing = "an MPI without MPI_" #name;
    OPERATIONS_(X) REQUESTS(X) SYNCHRONISATION(X) WINDOWS(X)
#undef X
    const char *theirs = their_mpi();
    if (theirs != NULL || missing != NULL)
        leave(argv, theirs != NULL ? theirs : missing);
    const char *wanted = getenv("ONENODE_MPI_STATS");
    counting = wanted != NULL && *wanted != '\0' && strcmp(wanted, "0") != 0;
    watched |= counting;
}

/* An MPI that the program has loaded since then, as a module of Python does, has not been called yet: what should call it comes
 * here. To start a program again that has done something already would do that twice. */
static void expect_own_mpi(void)
{
    const char *theirs = their_mpi();
    if (theirs == NULL)
        return;
    fprintf(stderr, "onenode-mpi: the program has loaded %s, this library is for %s; run it by the mpirun of its MPI, or without this library\n",
            theirs, own_mpi());
    _exit(1);
}

int on_Init(int *argc, char ***argv)
{
    expect_own_mpi();
    return next.Init(argc, argv);
}

int on_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    expect_own_mpi();
    return next.Init_thread(argc, argv, required, provided);
}
