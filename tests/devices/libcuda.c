/* An imitation of libcuda.so.1 for tests on machines without a device. Memory of a device is mapped so that the
 * processor can neither load from it nor store to it (PROT_NONE): what a program or a library of it touches by
 * mistake faults. Copies and kernels, which work on a second mapping, happen only when their stream is waited for. The
 * kernels are known by their names. Peers' memory comes by their descriptors in /proc. What a test wants to know of it,
 * `imitation_calls` tells. */
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

/* Whether an address is a device's: see reach.c. */
int imitation_has(const void *address) { return find((CUdeviceptr)address) != NULL; }

/* How the processor reaches all that devices have. */
void imitation_protect(int protection)
{
    for (int i = 0; i < used; i++)
        if (ranges[i].bytes > 0)
            mprotect(ranges[i].seen, ranges[i].bytes, protection);
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

CUresult cuInit(unsigned flags) { return flags == 0 ? OK : INVALID; }

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error == INVALID      ? "invalid argument"
            : error == NO_MEMORY  ? "out of memory"
            : error == NO_DEVICE  ? "invalid device ordinal"
            : error == NO_CONTEXT ? "invalid device context"
            : error == NOT_FOUND  ? "named symbol not found"
                                  : NULL;
    return *text != NULL ? OK : INVALID;
}

CUresult cuDeviceGetCount(int *count) { return *count = DEVICES, OK; }

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
    return *context = &contexts[device - 10], OK;
}

CUresult cuCtxSetCurrent(void *context) { return current = context, OK; }

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

/* ---- Streams: what is asked for is kept until somebody waits. --------------------------------- */

enum kind { COPY, FILL, KERNEL };

struct task {
    enum kind kind;
    CUdeviceptr to, from;
    size_t bytes;
    size_t rows, to_pitch, from_pitch; /* COPY: so often, at these distances */
    unsigned fill;                     /* FILL: with this word of so many bytes */
    int operation, width;
    uint64_t values[4];
};

static struct task tasks[PENDING];
static int pending;
static void run(const struct task *task);

static void run_all(void)
{
    for (int i = 0; i < pending; i++)
        run(&tasks[i]);
    pending = 0;
}

static CUresult later(struct task task)
{
    if (current == NULL)
        return NO_CONTEXT;
    pthread_mutex_lock(&lock);
    /* A stream that is full makes its callers wait. */
    if (pending == PENDING)
        run_all();
    tasks[pending++] = task;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* How often functions were called. */
static struct {
    const char *name;
    long calls;
} counts[] = {{"copy", 0}, {"copy_2d", 0}, {"set", 0}, {"wait", 0}, {"kernel", 0}, {"attribute", 0}};
enum { COUNT_COPY, COUNT_COPY_2D, COUNT_SET, COUNT_WAIT, COUNT_KERNEL, COUNT_ATTRIBUTE, COUNTS };
#define COUNT(what) __atomic_fetch_add(&counts[COUNT_##what].calls, 1, __ATOMIC_RELAXED)

long imitation_calls(const char *name)
{
    for (int i = 0; i < COUNTS; i++)
        if (strcmp(counts[i].name, name) == 0)
            return counts[i].calls;
    return -1;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
    COUNT(ATTRIBUTE);
    if (attribute != 2 || find(address) == NULL)
        return INVALID;
    *(unsigned *)value = 2;
    return OK;
}

CUresult cuStreamCreate(void **stream, unsigned flags)
{
    *stream = &pending;
    return current == NULL ? NO_CONTEXT : flags == 0 ? OK : INVALID;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream)
{
    COUNT(COPY);
    if (stream != &pending || touchable(to, bytes) == NULL || touchable(from, bytes) == NULL)
        return INVALID;
    return later((struct task){.kind = COPY, .to = to, .from = from, .bytes = bytes, .rows = 1});
}

typedef struct {
    size_t x, y;
    unsigned kind;
    void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
} corner;
typedef struct {
    corner from, to;
    size_t width, height;
} CUDA_MEMCPY2D;

/* Whether so many rows can be touched, whose addresses tell whose memory they are. */
static int is_rectangle(const corner *corner, size_t width, size_t height)
{
    size_t bytes = corner->pitch * (height - 1) + width;
    return corner->x == 0 && corner->y == 0 && corner->kind == 4 && corner->host == NULL &&
           corner->array == NULL && corner->pitch >= width && corner->pitch < 1u << 31 &&
           touchable(corner->device, bytes) != NULL;
}

/* With IMITATION_PITCH, as with some devices, not for all distances. */
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *all, void *stream)
{
    COUNT(COPY_2D);
    const char *unit = getenv("IMITATION_PITCH");
    size_t width = all->width, height = all->height;
    if (stream != &pending || height == 0 || !is_rectangle(&all->from, width, height) ||
        !is_rectangle(&all->to, width, height) ||
        (unit != NULL && (all->from.pitch | all->to.pitch) % (size_t)atol(unit) != 0))
        return INVALID;
    return later((struct task){.kind = COPY, .to = all->to.device, .from = all->from.device,
                               .bytes = width, .rows = height, .to_pitch = all->to.pitch,
                               .from_pitch = all->from.pitch});
}

static CUresult fill(CUdeviceptr to, unsigned word, int width, size_t n, void *stream)
{
    COUNT(SET);
    size_t bytes = n * (size_t)width;
    if (stream != &pending || to % (unsigned)width != 0 || find(to) == NULL ||
        touchable(to, bytes) == NULL)
        return INVALID;
    return later((struct task){.kind = FILL, .to = to, .bytes = bytes, .fill = word, .width = width});
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t n, void *stream)
{
    return fill(to, byte, 1, n, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short word, size_t n, void *stream)
{
    return fill(to, word, 2, n, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned word, size_t n, void *stream)
{
    return fill(to, word, 4, n, stream);
}

CUresult cuMemHostAlloc(void **start, size_t bytes, unsigned flags)
{
    if (current == NULL || flags != 1)
        return INVALID;
    return posix_memalign(start, 4096, bytes) == 0 ? OK : NO_MEMORY;
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
    if (task->kind == COPY) {
        for (size_t row = 0; row < task->rows; row++)
            memmove(touchable(task->to + row * task->to_pitch, task->bytes),
                    touchable(task->from + row * task->from_pitch, task->bytes), task->bytes);
    } else if (task->kind == FILL) {
        char *to = touchable(task->to, task->bytes);
        for (size_t i = 0; i < task->bytes; i += (size_t)task->width)
            memcpy(to + i, &task->fill, (size_t)task->width);
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
    COUNT(WAIT);
    if (current == NULL || stream != &pending)
        return NO_CONTEXT;
    pthread_mutex_lock(&lock);
    run_all();
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
    static char functions[12], entry[100], known[40];
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
    COUNT(KERNEL);
    if (gx * gy * gz * bx * by * bz != 1 || shared != 0 || stream != &pending || extra != NULL)
        return INVALID;
    int number = *(char *)function;
    struct task task = {.kind = KERNEL, .operation = number / 2, .width = number % 2 == 0 ? 4 : 8};
    for (int i = 0; i < 4; i++)
        memcpy(&task.values[i], values[i], 8);
    /* Both are memory of a device. */
    if (find(task.values[0]) == NULL || find(task.values[3]) == NULL ||
        touchable(task.values[0], (size_t)task.width) == NULL ||
        task.values[0] % (unsigned)task.width != 0)
        return INVALID;
    return later(task);
}
