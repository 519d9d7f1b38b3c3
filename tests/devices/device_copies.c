/* What a put between devices' memory takes beside the driver's own copy: medians of 20, in microseconds. */
#include "../c/check.h"
#include <dlfcn.h>
#include <shmemx.h>
#include <string.h>
#include <time.h>

enum { TIMES = 20 };

static int (*copy_async)(unsigned long long to, unsigned long long from, size_t bytes, void *stream);
static int (*wait_for)(void *stream);
static int (*make_stream)(void **stream, unsigned flags);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *symbol(void *driver, const char *name)
{
    void *found = dlsym(driver, name);
    if (found == NULL)
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    CHECK(found != NULL);
    return found;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 4096;
    shmem_init();
    int me = shmem_my_pe(), peer = shmem_n_pes() - 1;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver != NULL);
    *(void **)&copy_async = symbol(driver, "cuMemcpyAsync");
    *(void **)&wait_for = symbol(driver, "cuStreamSynchronize");
    *(void **)&make_stream = symbol(driver, "cuStreamCreate");
    char *from = shmemx_partition_malloc(most, 1), *to = shmemx_partition_malloc(most, 1);
    char *host = malloc(most), *back = malloc(most);
    CHECK(from != NULL && to != NULL && host != NULL && back != NULL);
    for (size_t i = 0; i < most; i++)
        host[i] = (char)(i * 7 + i / 251);
    void *stream = NULL;
    CHECK(me != 0 || make_stream(&stream, 0) == 0);
    shmem_barrier_all();
    for (size_t bytes = 8; me == 0 && bytes <= most; bytes *= 8) {
        double put[TIMES], copy[TIMES];
        shmem_putmem(from, host, bytes, 0);
        for (int i = 0; i < TIMES; i++) {
            double start = now();
            shmem_putmem(to, from, bytes, peer);
            put[i] = now() - start;
            start = now();
            CHECK(copy_async((unsigned long long)(uintptr_t)to, (unsigned long long)(uintptr_t)from, bytes, stream) == 0);
            CHECK(wait_for(stream) == 0);
            copy[i] = now() - start;
        }
        qsort(put, TIMES, sizeof *put, ascending);
        qsort(copy, TIMES, sizeof *copy, ascending);
        memset(back, 0, bytes);
        shmem_getmem(back, to, bytes, peer);
        CHECK(memcmp(back, host, bytes) == 0);
        printf("%10zu B: put %9.1f us, the driver's copy %9.1f us, %.2f times\n", bytes, put[TIMES / 2], copy[TIMES / 2],
               put[TIMES / 2] / copy[TIMES / 2]);
    }
    shmem_barrier_all();
    if (me == 0)
        printf("verified\n");
    shmem_finalize();
    return 0;
}
