/* First touch of shared memory: a copy into a fresh mapping, plainly, after populating
 * it in one call, and with huge pages asked for; and the touch of each page. The best of
 * the copies is the limit of a put to memory that nobody has touched. */
#define BENCH_RAW
#include "../bench.h"
#include <sys/syscall.h>

#define PAGE 4096
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct fresh {
    unsigned char *memory, *source;
    size_t size;
};

/* A new shared mapping for each sample; made outside the timed part. */
static void map(void *arg)
{
    struct fresh *f = arg;
    int memfd = (int)syscall(SYS_memfd_create, "raw.touch", 0);
    bench_check(memfd >= 0 && ftruncate(memfd, (off_t)f->size) == 0, "no memfd");
    if (f->memory != NULL)
        munmap(f->memory, f->size);
    f->memory = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    bench_check(f->memory != MAP_FAILED, "no mapping");
    close(memfd);
}

static void copy(void *arg, long n)
{
    struct fresh *f = arg;
    (void)n;
    memcpy(f->memory, f->source, f->size);
}

/* Kernels before 5.14 do not know this advice; then it is the plain copy. */
static void populate_copy(void *arg, long n)
{
    struct fresh *f = arg;
    madvise(f->memory, f->size, MADV_POPULATE_WRITE);
    copy(arg, n);
}

/* Without huge pages for shared memory on this machine the advice does nothing. */
static void huge_copy(void *arg, long n)
{
    struct fresh *f = arg;
    madvise(f->memory, f->size, MADV_HUGEPAGE);
    copy(arg, n);
}

static void touch(void *arg, long n)
{
    struct fresh *f = arg;
    (void)n;
    for (size_t i = 0; i < f->size; i += PAGE)
        *(volatile unsigned char *)(f->memory + i) = 1;
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes == 1, "first touch is measured with one process");
    const size_t sizes[] = {PAGE, 1u << 20, 16u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= bench.max; i++) {
        static const struct {
            const char *name;
            void (*op)(void *, long);
        } methods[] = {{"raw.touch.copy", copy}, {"raw.touch.populate_copy", populate_copy},
                       {"raw.touch.huge_copy", huge_copy}, {"raw.touch.own", touch}};
        struct fresh f = {NULL, malloc(sizes[i]), sizes[i]};
        bench_check(f.source != NULL, "no memory");
        bench_fill(f.source, f.size, 3);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            bench_measure((struct bench_point){.name = methods[m].name, .size = f.size, .op = methods[m].op, .arg = &f,
                                               .prepare = map, .unit = BENCH_MBPS, .weight = (double)f.size, .exactly = 5});
            if (methods[m].op != touch)
                bench_verify(f.memory, f.size, 3, methods[m].name);
        }
        munmap(f.memory, f.size);
        free(f.source);
    }
    bench_finish();
    return 0;
}
