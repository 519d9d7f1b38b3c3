/* Put and get of PE 0 to and from PE 1 over the offset of the destination against the source (offsets.h). */
#include "offsets.h"

static void put(void *dest, const void *source, size_t size) { shmem_putmem(dest, source, size, 1); }
static void get(void *dest, const void *source, size_t size) { shmem_getmem(dest, source, size, 1); }

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes >= 2, "offsets need 2 PEs");
    unsigned char *there = bench_alloc(OFFSET_ROOM), *here = aligned_alloc(4096, OFFSET_ROOM);
    bench_check(here != NULL, "no memory");
    bench_fill(here, OFFSET_ROOM, (unsigned)bench.pe);
    for (size_t s = 0; s < sizeof offset_sizes / sizeof *offset_sizes; s++) {
        size_t size = offset_sizes[s];
        char name[2][64];
        snprintf(name[0], sizeof name[0], "at_offset.put.%zu", size);
        snprintf(name[1], sizeof name[1], "at_offset.get.%zu", size);
        if (size > bench.max)
            break;
        memset(there, 0xff, OFFSET_ROOM);
        bench_barrier();
        if (bench.pe == 0) {
            offset_measure(name[0], put, there, here, size);
            put(there, here, size);
        }
        bench_barrier();
        if (bench.pe == 1)
            bench_verify(there, size, 0, name[0]);
        bench_fill(there, OFFSET_ROOM, 2);
        bench_barrier();
        if (bench.pe == 0) {
            unsigned char *into = aligned_alloc(4096, OFFSET_ROOM);
            bench_check(into != NULL, "no memory");
            memset(into, 0xff, OFFSET_ROOM);
            offset_measure(name[1], get, into, there, size);
            get(into, there, size);
            bench_verify(into, size, 2, name[1]);
            free(into);
        }
        bench_barrier();
    }
    bench_finish();
    return 0;
}
