/* liboneshmem_openmp: the storage of what `target data` and `target enter data` map comes from a
 * partition, so mapped arrays are symmetric.
 *
 * It stands in front of LLVM's libomptarget and replaces nothing of it. The compiler's entry
 * points for data regions come here first: for each new mapping this takes a block of the
 * partition and associates it with the host's array (omp_target_associate_ptr), then calls the
 * real routine. An associated array is never new to libomptarget, which then copies nothing; so
 * the copy of the map types that it gets says `always` where a new array would have been copied.
 *
 * Blocks are taken and given back locally, without a barrier: they are symmetric if all PEs map
 * the same arrays in the same order. Maps on `target` constructs are left to OpenMP.
 *
 * Until a program asks for it (by one of the three routines at the end), all is as without this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shmemx.h>

/* Of OpenMP 4.5, declared here because each compiler has its own omp.h. */
extern int omp_get_default_device(void);
extern int omp_target_is_present(const void *host, int device);
extern int omp_target_associate_ptr(const void *host, const void *block, size_t bytes,
                                    size_t offset, int device);
extern int omp_target_disassociate_ptr(const void *host, int device);
extern void *omp_target_alloc(size_t bytes, int device);
extern void omp_target_free(void *block, int device);

/* Map types, as the compiler writes them. */
enum {
    TO = 0x001,
    FROM = 0x002,
    ALWAYS = 0x004,
    DELETE = 0x008,
    PTR_AND_OBJ = 0x010,
    PRIVATE = 0x080,
    LITERAL = 0x100,
};
#define MEMBER_OF 0xffff000000000000

/* A mapping whose storage is a block of the partition. */
struct mapping {
    char *host;
    size_t bytes;
    char *block;
    long count;  /* as libomptarget counts */
    char *stub;  /* what else is associated with the block: see `stub` */
    int fresh;   /* made in the call that is going on */
    int gone;    /* ends in the call that is going on */
    struct mapping *next;
};

/* Held from the first look at a region's maps until libomptarget has done its part: another thread
 * must find an array with its data, or not at all. Recursive, since a wait in there may run another
 * task of this thread. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct mapping *mappings;
static int device = -1; /* whose maps are served; -1: none */
static int partition = -1;
static _Thread_local int off; /* this thread's maps are not */

/* Entries that libomptarget counts. */
#define COUNTS(type) (!((type) & MEMBER_OF) || (type) & PTR_AND_OBJ)

static void complain(const char *what)
{
    fprintf(stderr, "oneshmem: OpenMP: %s\n", what);
}

static struct mapping *mapping_of(const char *host)
{
    for (struct mapping *m = mappings; m != NULL; m = m->next)
        if (host >= m->host && host < m->host + m->bytes)
            return m;
    return NULL;
}

static int is_served(int64_t number)
{
    if (number < 0)
        number = omp_get_default_device();
    return device >= 0 && number == device && !off;
}

static void remove_stub(struct mapping *m)
{
    if (m->stub != NULL)
        omp_target_disassociate_ptr(m->stub, device);
    m->stub = NULL;
}

/* A section such as a[100:50] is found by the array's base, in a target region or by
 * use_device_ptr, only if libomptarget knows the base. Association cannot tell it, but another
 * one of a byte at the base can. */
static void stub(struct mapping *m, char *base)
{
    if (base >= m->host || omp_target_is_present(base, device))
        return;
    if (omp_target_associate_ptr(base, m->block - (m->host - base), 1, 0, device) == 0)
        m->stub = base;
}

/* A new mapping; NULL if it stays OpenMP's own. */
static struct mapping *add(char *host, size_t bytes)
{
    struct mapping *m = malloc(sizeof *m);
    char *block = m != NULL ? shmemx_partition_take(bytes, partition) : NULL;
    if (block == NULL) {
        fprintf(stderr,
                "oneshmem: OpenMP: partition %d has no room for an array of %zu bytes, which is "
                "mapped and not symmetric; give SHMEM_SYMMETRIC_PARTITION%d more\n",
                partition, bytes, partition);
        free(m);
        return NULL;
    }
    if (omp_target_associate_ptr(host, block, bytes, 0, device) != 0) {
        complain("an array that is mapped in part already is not symmetric");
        shmemx_partition_give(block);
        free(m);
        return NULL;
    }
    *m = (struct mapping){.host = host, .bytes = bytes, .block = block, .count = 1, .fresh = 1};
    m->next = mappings;
    return mappings = m;
}

/* A region begins: gives what is new in it storage. Changes `types`, which is a copy. */
static void begin(int32_t n, void **bases, void **args, int64_t *sizes, int64_t *types)
{
    for (int32_t i = 0; i < n; i++) {
        char *host = args[i];
        if (sizes[i] <= 0 || types[i] & (PRIVATE | LITERAL))
            continue;
        struct mapping *m = mapping_of(host);
        if (m != NULL) {
            m->count += COUNTS(types[i]);
        } else {
            for (struct mapping *s = mappings; s != NULL; s = s->next)
                if (s->stub != NULL && s->stub >= host && s->stub < host + sizes[i])
                    remove_stub(s);
            if (omp_target_is_present(host, device))
                continue;
            m = add(host, (size_t)sizes[i]);
            if (m != NULL && !(types[i] & PTR_AND_OBJ))
                stub(m, bases[i]);
        }
        if (m != NULL && m->fresh && types[i] & TO)
            types[i] |= ALWAYS;
    }
    for (struct mapping *m = mappings; m != NULL; m = m->next)
        m->fresh = 0;
}

/* A region ends: finds the mappings that end with it. Changes `types`, which is a copy. */
static struct mapping *ending(int32_t n, void **args, const int64_t *sizes, int64_t *types)
{
    struct mapping *gone = NULL;
    for (int32_t i = n - 1; i >= 0; i--) {
        if (types[i] & (PRIVATE | LITERAL) || (sizes[i] == 0 && !(types[i] & DELETE)))
            continue;
        struct mapping *m = mapping_of(args[i]);
        if (m == NULL)
            continue;
        if (COUNTS(types[i]))
            m->count = types[i] & DELETE ? 0 : m->count - 1;
        m->gone = m->count <= 0;
    }
    for (int32_t i = 0; i < n; i++) {
        struct mapping *m = types[i] & (PRIVATE | LITERAL) ? NULL : mapping_of(args[i]);
        if (m != NULL && m->gone) {
            if (types[i] & FROM)
                types[i] |= ALWAYS;
            types[i] &= ~(int64_t)DELETE; /* what is associated is not deleted but disassociated */
        }
    }
    for (struct mapping **at = &mappings; *at != NULL;) {
        struct mapping *m = *at;
        if (m->gone) {
            *at = m->next;
            m->next = gone;
            gone = m;
        } else {
            at = &m->next;
        }
    }
    return gone;
}

/* The region has ended: gives the storage of these mappings back. */
static void ended(struct mapping *gone)
{
    while (gone != NULL) {
        struct mapping *m = gone;
        gone = m->next;
        remove_stub(m);
        if (omp_target_disassociate_ptr(m->host, device) != 0)
            complain("an array was released while it is still in use");
        else
            shmemx_partition_give(m->block);
        free(m);
    }
}

/* ---- The compiler's entry points ------------------------------------------------------------ */

/* The routine behind the one of this name. */
static void *behind(const char *name)
{
    void *routine = dlsym(RTLD_NEXT, name);
    if (routine == NULL) {
        fprintf(stderr, "oneshmem: OpenMP: no %s behind this one: link with LLVM's libomptarget\n",
                name);
        abort();
    }
    return routine;
}
#define BEHIND(name) \
    static __typeof__(&name) real; \
    if (real == NULL) \
    real = (__typeof__(&name))behind(#name)

enum { FEW = 16 };

/* The map types that libomptarget gets instead of the compiler's. */
struct types {
    int64_t few[FEW], *all;
};

static int64_t *copy(struct types *copy, const int64_t *types, int32_t n)
{
    copy->all = n <= FEW ? copy->few : malloc((size_t)n * sizeof *types);
    if (copy->all == NULL) {
        complain("no memory for the types of a map");
        abort();
    }
    memcpy(copy->all, types, (size_t)n * sizeof *types);
    return copy->all;
}

static void discard(struct types *copy)
{
    if (copy->all != copy->few)
        free(copy->all);
}

void __tgt_target_data_begin_mapper(void *where, int64_t number, int32_t n, void **bases,
                                    void **args, int64_t *sizes, int64_t *types, void **names,
                                    void **mappers)
{
    BEHIND(__tgt_target_data_begin_mapper);
    if (!is_served(number)) {
        real(where, number, n, bases, args, sizes, types, names, mappers);
        return;
    }
    struct types ours;
    pthread_mutex_lock(&lock);
    begin(n, bases, args, sizes, copy(&ours, types, n));
    real(where, number, n, bases, args, sizes, ours.all, names, mappers);
    pthread_mutex_unlock(&lock);
    discard(&ours);
}

void __tgt_target_data_end_mapper(void *where, int64_t number, int32_t n, void **bases, void **args,
                                  int64_t *sizes, int64_t *types, void **names, void **mappers)
{
    BEHIND(__tgt_target_data_end_mapper);
    /* Also where this thread's maps are not served now: they may have been. */
    if (device < 0) {
        real(where, number, n, bases, args, sizes, types, names, mappers);
        return;
    }
    struct types ours;
    pthread_mutex_lock(&lock);
    struct mapping *gone = ending(n, args, sizes, copy(&ours, types, n));
    real(where, number, n, bases, args, sizes, ours.all, names, mappers);
    ended(gone);
    pthread_mutex_unlock(&lock);
    discard(&ours);
}

void __tgt_target_data_begin_nowait_mapper(void *where, int64_t number, int32_t n, void **bases,
                                           void **args, int64_t *sizes, int64_t *types,
                                           void **names, void **mappers, int32_t ndeps, void *deps,
                                           int32_t nnoalias, void *noalias)
{
    BEHIND(__tgt_target_data_begin_nowait_mapper);
    if (!is_served(number)) {
        real(where, number, n, bases, args, sizes, types, names, mappers, ndeps, deps, nnoalias,
             noalias);
        return;
    }
    struct types ours;
    pthread_mutex_lock(&lock);
    begin(n, bases, args, sizes, copy(&ours, types, n));
    real(where, number, n, bases, args, sizes, ours.all, names, mappers, ndeps, deps, nnoalias,
         noalias);
    pthread_mutex_unlock(&lock);
    discard(&ours);
}

/* Waits all the same: the storage is given back at the end. */
void __tgt_target_data_end_nowait_mapper(void *where, int64_t number, int32_t n, void **bases,
                                         void **args, int64_t *sizes, int64_t *types, void **names,
                                         void **mappers, int32_t ndeps, void *deps,
                                         int32_t nnoalias, void *noalias)
{
    (void)ndeps, (void)deps, (void)nnoalias, (void)noalias;
    __tgt_target_data_end_mapper(where, number, n, bases, args, sizes, types, names, mappers);
}

/* ---- What programs call --------------------------------------------------------------------- */

/* Whether the processor can read a device's memory: whether the device is the host. */
static int is_host(int number)
{
    int ends[2], is_readable = 0;
    char *probe = omp_target_alloc(64, number);
    if (probe != NULL && pipe(ends) == 0) {
        is_readable = write(ends[1], probe, 1) == 1;
        close(ends[0]);
        close(ends[1]);
    }
    if (probe != NULL)
        omp_target_free(probe, number);
    return is_readable;
}

/* From now on maps to OpenMP's device `number` get storage from the partition of KIND=LIBOMP. The
 * functions are not called: a collective allocation inside of a data region would wait for ever
 * where one PE maps more. Returns 0, or 1 if it cannot be, and says why. */
int __tgt_set_device_allocator(int64_t number, void *allocate, void *release)
{
    (void)allocate, (void)release;
    int initialized = 0, found = -1;
    shmem_query_initialized(&initialized);
    if (!initialized) {
        complain("__tgt_set_device_allocator: called before shmem_init or after shmem_finalize");
        return 1;
    }
    if (number < 0)
        number = omp_get_default_device();
    shmemx_partition_info_t info;
    int is_for_device = 0;
    for (int id = 63; id >= 0; id--) {
        if (shmemx_partition_info(id, &info) != 0 || strcmp(info.kind, "LIBOMP") != 0)
            continue;
        if (info.device == number || (info.device < 0 && !is_for_device))
            found = id, is_for_device = info.device == number;
    }
    if (found < 0) {
        complain("there is no partition for the device's mapped arrays; set "
                 "SHMEM_SYMMETRIC_PARTITION1=<size>:KIND=LIBOMP");
        return 1;
    }
    if (!is_host((int)number)) {
        complain("the device that maps are for is not the host's processor, whose memory alone "
                 "partitions can be in this version");
        return 1;
    }
    pthread_mutex_lock(&lock);
    int in_use = mappings != NULL && (device != (int)number || partition != found);
    if (!in_use)
        device = (int)number, partition = found;
    pthread_mutex_unlock(&lock);
    if (in_use)
        complain("arrays are still mapped to another device's partition");
    return in_use;
}

/* Maps are OpenMP's own again. Returns 0, or 1 if arrays are still mapped. */
int __tgt_reset_device_allocator(int64_t number)
{
    (void)number;
    pthread_mutex_lock(&lock);
    int in_use = mappings != NULL;
    if (!in_use)
        device = -1;
    pthread_mutex_unlock(&lock);
    if (in_use)
        complain("__tgt_reset_device_allocator: arrays are still mapped");
    return in_use;
}

/* The same as __tgt_set_device_allocator, in another order. */
int __tgt_set_shmem_allocator(void *(*allocate)(size_t, int), void (*release)(void *),
                              int64_t number)
{
    return __tgt_set_device_allocator(number, allocate, release);
}

/* Whether what the calling thread maps gets storage from the partition, if anything does; returns
 * what was before. */
int shmemx_openmp_maps(int on)
{
    int before = !off;
    off = !on;
    return before;
}
