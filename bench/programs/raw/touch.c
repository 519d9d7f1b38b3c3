/* First touch of shared memory: a copy into pages that nobody has used, plainly, after populating
 * them in one call, and with huge pages asked for; and the touch of each page. The best of
 * the copies is the limit of a put to memory that nobody has touched. */
#define BENCH_RAW
#include "../bench.h"
#include <sys/syscall.h>

#define PAGE 4096
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PIECES = 5 };

struct fresh {
    unsigned char *memory, *piece, *source;
    size_t size;
};

/* New shared memory for the warm-up operation and all samples, a piece for each: pages that one had given back would
 * come again, still in the caches. */
static void map(struct fresh *f)
{
    size_t bytes = (PIECES + 2) * f->size;
    int memfd = (int)syscall(SYS_memfd_create, "raw.touch", 0);
    bench_check(memfd >= 0 && ftruncate(memfd, (off_t)bytes) == 0, "no memfd");
    f->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    bench_check(f->memory != MAP_FAILED, "no mapping");
    f->piece = f->memory;
    close(memfd);
}

static void unmap(struct fresh *f) { munmap(f->memory, (PIECES + 2) * f->size); }

static void advance(void *arg)
{
    struct fresh *f = arg;
    f->piece += f->size;
}

static void copy(void *arg, long n)
{
    struct fresh *f = arg;
    (void)n;
    memcpy(f->piece, f->source, f->size);
}

/* Kernels before 5.14 do not know this advice; then it is the plain copy. */
static void populate_copy(void *arg, long n)
{
    struct fresh *f = arg;
    madvise(f->piece, f->size, MADV_POPULATE_WRITE);
    copy(arg, n);
}

/* Without huge pages for shared memory on this machine the advice does nothing. */
static void huge_copy(void *arg, long n)
{
    struct fresh *f = arg;
    madvise(f->piece, f->size, MADV_HUGEPAGE);
    copy(arg, n);
}

static void touch(void *arg, long n)
{
    struct fresh *f = arg;
    (void)n;
    for (size_t i = 0; i < f->size; i += PAGE)
        *(volatile unsigned char *)(f->piece + i) = 1;
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
        struct fresh f = {NULL, NULL, malloc(sizes[i]), sizes[i]};
        bench_check(f.source != NULL, "no memory");
        bench_fill(f.source, f.size, 3);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            map(&f);
            bench_measure((struct bench_point){.name = methods[m].name, .size = f.size, .op = methods[m].op,
                                               .arg = &f, .prepare = advance, .unit = BENCH_MBPS,
                                               .weight = (double)f.size, .exactly = PIECES});
            if (methods[m].op != touch)
                bench_verify(f.piece, f.size, 3, methods[m].name);
            unmap(&f);
        }
        free(f.source);
    }
    bench_finish();
    return 0;
}
