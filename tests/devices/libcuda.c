/* An imitation of libcuda.so.1 for tests on machines without a device. Memory of a device is mapped so that the
 * processor can neither load from it nor store to it (PROT_NONE): what a program or a library of it touches by
 * mistake faults. Copies and kernels, which work on a second mapping, happen only when their stream is waited for. The
 * kernels are known by their names. Peers' memory comes by their descriptors in /proc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct {
    uint64_t words[8];
} CUipcMemHandle;

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 101, NO_CONTEXT = 201, NOT_FOUND = 500 };
enum { DEVICES = 2, RANGES = 4096, PENDING = 1024 };
/* What a device has. */
#define CAPACITY ((size_t)1 << 30)

struct range {
    char *seen, *alias;
    size_t bytes;
    int file, own;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range ranges[RANGES];
static int used;
static size_t allocated;
static int contexts[DEVICES];
static _Thread_local void *current;

static struct range *find(CUdeviceptr address)
{
    for (int i = 0; i < used; i++)
        if (ranges[i].bytes > 0 && (char *)address >= ranges[i].seen &&
            (char *)address < ranges[i].seen + ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

/* Where so much memory can be touched; NULL if a device's ends before. */
static char *touchable(CUdeviceptr address, size_t bytes)
{
    struct range *range = find(address);
    if (range == NULL)
        return (char *)address;
    size_t offset = (char *)address - range->seen;
    return bytes <= range->bytes - offset ? range->alias + offset : NULL;
}

static CUresult add(int file, size_t bytes, int own, CUdeviceptr *address)
{
    char *seen = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file, 0);
    char *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seen == MAP_FAILED || alias == MAP_FAILED)
        return NO_MEMORY;
    pthread_mutex_lock(&lock);
    if (used < RANGES)
        ranges[used++] = (struct range){seen, alias, bytes, file, own};
    pthread_mutex_unlock(&lock);
    *address = (CUdeviceptr)seen;
    return OK;
}

CUresult cuInit(unsigned flags)
{
    return flags == 0 ? OK : INVALID;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    switch (error) {
    case INVALID: *text = "invalid argument"; return OK;
    case NO_MEMORY: *text = "out of memory"; return OK;
    case NO_DEVICE: *text = "invalid device ordinal"; return OK;
    case NO_CONTEXT: *text = "invalid device context"; return OK;
    case NOT_FOUND: *text = "named symbol not found"; return OK;
    default: return INVALID;
    }
}

CUresult cuDeviceGetCount(int *count)
{
    *count = DEVICES;
    return OK;
}

CUresult cuDeviceGet(int *device, int number)
{
    *device = number + 10;
    return number >= 0 && number < DEVICES ? OK : NO_DEVICE;
}

CUresult cuDeviceGetName(char *name, int bytes, int device)
{
    snprintf(name, (size_t)bytes, "Imitation %d", device - 10);
    return OK;
}

CUresult cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &contexts[device - 10];
    return OK;
}

CUresult cuCtxSetCurrent(void *context)
{
    current = context;
    return OK;
}

CUresult cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *left = CAPACITY - allocated;
    *all = CAPACITY;
    return current != NULL ? OK : NO_CONTEXT;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    if (current == NULL)
        return NO_CONTEXT;
    if (bytes > CAPACITY - allocated)
        return NO_MEMORY;
    allocated += bytes;
    int file = memfd_create("device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return NO_MEMORY;
    return add(file, bytes, 1, address);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    struct range *range = find(address);
    if (range == NULL || !range->own)
        return INVALID;
    *handle = (CUipcMemHandle){{(uint64_t)getpid(), (uint64_t)range->file, range->bytes}};
    return OK;
}

/* A process cannot open its own, as with the real one. */
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    if (current == NULL)
        return NO_CONTEXT;
    if (flags != 1 || handle.words[0] == (uint64_t)getpid())
        return INVALID;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)handle.words[0], (int)handle.words[1]);
    int file = open(path, O_RDWR | O_CLOEXEC);
    return file < 0 ? INVALID : add(file, handle.words[2], 0, address);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    struct range *range = find(address);
    if (range == NULL || range->own || (char *)address != range->seen)
        return INVALID;
    munmap(range->seen, range->bytes);
    munmap(range->alias, range->bytes);
    close(range->file);
    range->bytes = 0;
    return OK;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
    if (attribute != 2 || find(address) == NULL)
        return INVALID;
    *(unsigned *)value = 2;
    return OK;
}

/* ---- Streams: what is asked for is kept until somebody waits. --------------------------------- */

struct task {
    CUdeviceptr to, from;
    size_t bytes;
    int fill;       /* the byte, or -1 for a copy, or -2 for a kernel */
    int operation, width;
    uint64_t values[4];
};

static struct task tasks[PENDING];
static int pending;

static CUresult later(struct task task)
{
    if (current == NULL)
        return NO_CONTEXT;
    pthread_mutex_lock(&lock);
    int fits = pending < PENDING;
    if (fits)
        tasks[pending++] = task;
    pthread_mutex_unlock(&lock);
    return fits ? OK : NO_MEMORY;
}

CUresult cuStreamCreate(void **stream, unsigned flags)
{
    *stream = &pending;
    return current == NULL ? NO_CONTEXT : flags == 0 ? OK : INVALID;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream)
{
    if (stream != &pending || touchable(to, bytes) == NULL || touchable(from, bytes) == NULL)
        return INVALID;
    return later((struct task){.to = to, .from = from, .bytes = bytes, .fill = -1});
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, void *stream)
{
    if (stream != &pending || find(to) == NULL || touchable(to, bytes) == NULL)
        return INVALID;
    return later((struct task){.to = to, .bytes = bytes, .fill = byte});
}

#define ATOMIC(TYPE)                                                                      \
    static uint64_t atomic_##TYPE(int operation, void *at, uint64_t value, uint64_t expected) \
    {                                                                                     \
        TYPE *word = at, old = (TYPE)expected;                                            \
        switch (operation) {                                                              \
        case 0: return __atomic_fetch_add(word, (TYPE)value, __ATOMIC_SEQ_CST);           \
        case 1: return __atomic_fetch_and(word, (TYPE)value, __ATOMIC_SEQ_CST);           \
        case 2: return __atomic_fetch_or(word, (TYPE)value, __ATOMIC_SEQ_CST);            \
        case 3: return __atomic_fetch_xor(word, (TYPE)value, __ATOMIC_SEQ_CST);           \
        case 4: return __atomic_exchange_n(word, (TYPE)value, __ATOMIC_SEQ_CST);          \
        default:                                                                          \
            __atomic_compare_exchange_n(word, &old, (TYPE)value, 0, __ATOMIC_SEQ_CST,     \
                                        __ATOMIC_SEQ_CST);                                \
            return old;                                                                   \
        }                                                                                 \
    }
ATOMIC(uint32_t)
ATOMIC(uint64_t)

static void run(const struct task *task)
{
    char *to = touchable(task->to, task->bytes);
    if (task->fill >= 0) {
        memset(to, task->fill, task->bytes);
    } else if (task->fill == -1) {
        memmove(to, touchable(task->from, task->bytes), task->bytes);
    } else {
        const uint64_t *values = task->values;
        char *word = touchable(values[0], (size_t)task->width);
        uint64_t before = task->width == 4
                              ? atomic_uint32_t(task->operation, word, values[1], values[2])
                              : atomic_uint64_t(task->operation, word, values[1], values[2]);
        memcpy(touchable(values[3], 8), &before, (size_t)task->width);
    }
}

CUresult cuStreamSynchronize(void *stream)
{
    if (current == NULL || stream != &pending)
        return NO_CONTEXT;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < pending; i++)
        run(&tasks[i]);
    pending = 0;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static const char *names[] = {"add", "and", "or", "xor", "exch", "cas"};

CUresult cuModuleLoadData(void **module, const void *text)
{
    *module = strdup(text);
    return current == NULL ? NO_CONTEXT : *module != NULL ? OK : NO_MEMORY;
}

CUresult cuModuleGetFunction(void **function, void *module, const char *name)
{
    static char functions[12];
    char entry[100], known[40];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    for (int i = 0; i < 12; i++) {
        snprintf(known, sizeof known, "oneshmem_%s_%d", names[i / 2], i % 2 == 0 ? 32 : 64);
        if (strcmp(known, name) == 0 && strstr(module, entry) != NULL) {
            functions[i] = (char)i;
            *function = &functions[i];
            return OK;
        }
    }
    return NOT_FOUND;
}

CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, void *stream, void **values,
                        void **extra)
{
    if (gx * gy * gz * bx * by * bz != 1 || shared != 0 || stream != &pending || extra != NULL)
        return INVALID;
    int number = *(char *)function;
    struct task task = {.fill = -2, .operation = number / 2, .width = number % 2 == 0 ? 4 : 8};
    for (int i = 0; i < 4; i++)
        memcpy(&task.values[i], values[i], 8);
    /* Both are memory of a device. */
    if (find(task.values[0]) == NULL || find(task.values[3]) == NULL ||
        touchable(task.values[0], (size_t)task.width) == NULL ||
        task.values[0] % (unsigned)task.width != 0)
        return INVALID;
    return later(task);
}
