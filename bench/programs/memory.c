/* The symmetric heap: malloc and free by size (collective: the slowest PE's time of
 * a pair), calloc and align, realloc; and first touch: what a put costs to memory that nobody has
 * touched, and what it costs the owner to touch it, in MB/s. */
#include "bench.h"

#define PAGE 4096
#define APART (2u << 20)

struct request {
    size_t size;
    unsigned char *fresh;
    unsigned char *source;
};

static void malloc_free(void *arg, long n)
{
    const struct request *r = arg;
    for (; n > 0; n--) {
        void *memory = shmem_malloc(r->size);
        bench_check(memory != NULL, "no memory for %zu bytes", r->size);
        shmem_free(memory);
    }
}

static void calloc_free(void *arg, long n)
{
    const struct request *r = arg;
    for (; n > 0; n--) {
        unsigned char *memory = shmem_calloc(r->size, 1);
        bench_check(memory != NULL && memory[0] == 0 && memory[r->size - 1] == 0, "calloc of %zu bytes", r->size);
        shmem_free(memory);
    }
}

static void align_free(void *arg, long n)
{
    const struct request *r = arg;
    for (; n > 0; n--) {
        void *memory = shmem_align(PAGE, r->size);
        bench_check(memory != NULL && (uintptr_t)memory % PAGE == 0, "align of %zu bytes", r->size);
        shmem_free(memory);
    }
}

/* Each sample takes the next piece of a heap block that was never touched. */
static void advance(void *arg)
{
    struct request *r = arg;
    r->fresh += r->size;
}

static void put_fresh(void *arg, long n)
{
    struct request *r = arg;
    for (; n > 0 && bench.pe == 0; n--) {
        shmem_putmem(r->fresh, r->source, r->size, 1 % bench.npes);
        shmem_quiet();
    }
}

static void touch_own(void *arg, long n)
{
    struct request *r = arg;
    for (; n > 0; n--)
        for (size_t i = 0; i < r->size; i += PAGE)
            *(volatile unsigned char *)(r->fresh + i) = 1;
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    BENCH_SIZES (size, 8, (size_t)1 << 22) {
        struct request r = {size, NULL, NULL};
        struct bench_point p = {.size = size, .arg = &r, .whose = BENCH_SLOWEST, .unit = BENCH_NS, .weight = 1};
        p.name = "memory.malloc_free", p.op = malloc_free;
        bench_measure(p);
        p.name = "memory.calloc_free", p.op = calloc_free;
        bench_measure(p);
        p.name = "memory.align_free", p.op = align_free;
        bench_measure(p);
    }
    /* Page-aligned sizes only, so that no piece shares a page with the last one. The engine
     * makes one warm-up operation and then `exactly` samples: one piece each, and one spare. */
    const long pieces = 5;
    const size_t sizes[] = {PAGE, 1u << 20, 16u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= bench.max; i++) {
        struct request r = {sizes[i], NULL, malloc(sizes[i])};
        bench_check(r.source != NULL, "no memory");
        bench_fill(r.source, r.size, 3);
        struct bench_point p = {.size = r.size, .arg = &r, .prepare = advance, .unit = BENCH_MBPS, .weight = (double)r.size,
                                .exactly = pieces};
        unsigned char *block = shmem_align(PAGE, (size_t)(pieces + 2) * r.size);
        bench_check(block != NULL, "no memory for first touch");
        r.fresh = block;
        p.name = "touch.put", p.op = put_fresh;
        bench_measure(p);
        if (bench.pe == 1 % bench.npes)
            bench_verify(r.fresh, r.size, 3, "touch.put");
        bench_barrier();
        /* Another block, kept beside the first and in pages that a library cannot have made along with it. */
        unsigned char *second = shmem_align(APART, (size_t)(pieces + 2) * r.size);
        bench_check(second != NULL, "no memory for first touch");
        r.fresh = second;
        p.name = "touch.own", p.op = touch_own, p.whose = BENCH_SLOWEST;
        bench_measure(p);
        shmem_free(second);
        shmem_free(block);
        free(r.source);
    }
    bench_finish();
    return 0;
}
