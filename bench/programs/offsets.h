/* Bandwidth of copies over the offset of the destination against the source, whole pages not counted: processors mistake
 * addresses that differ in pages only for the same, and some ways to copy are then far slower. For put and get, and the raw
 * loops beside them. */
#ifndef OFFSETS_H
#define OFFSETS_H

#include "bench.h"

#define OFFSETS 4096
#define OFFSET_ROUNDS 7
/* Where the source is in a page: what malloc gives out. */
#define OFFSET_SOURCE 16

static const size_t offset_sizes[] = {512, 4096, 65536, 1 << 20};
#define OFFSET_MOST ((size_t)1 << 20)
/* What either side needs, from a page's start on. */
#define OFFSET_ROOM (OFFSET_MOST + 2 * OFFSETS)

typedef void offset_copy(void *dest, const void *source, size_t size);

/* Every one near the source, where trouble is, and some elsewhere. */
static int offset_wanted(size_t offset)
{
    return offset <= 4 || (offset <= 64 && offset % 4 == 0) || offset % 128 == 0 || offset == 15 || offset == 17 ||
           offset == 31 || offset == 33 || offset == 63 || offset == 65 || (offset > 4032 && offset % 8 == 0) || offset == 4095;
}

/* Measures one size, on PE 0: offsets in turn, several times, so that what disturbs for a while disturbs all of them. */
static void offset_measure(const char *name, offset_copy *copy, unsigned char *dest, const unsigned char *source, size_t size)
{
    static double sample[OFFSETS][OFFSET_ROUNDS];
    double share = bench.ms * 1e6 / 200;
    long n = (long)(share / ((double)size / 20 + 20)) + 1;
    source += OFFSET_SOURCE;
    for (int round = 0; round < OFFSET_ROUNDS; round++)
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            unsigned char *to = dest + (offset + OFFSET_SOURCE) % OFFSETS;
            if (!offset_wanted(offset))
                continue;
            copy(to, source, size);
            double start = bench_now();
            for (long i = 0; i < n; i++)
                copy(to, source, size);
            sample[offset][round] = (double)size * (double)n * 1e3 / (bench_now() - start);
        }
    for (size_t offset = 0; offset < OFFSETS; offset++)
        if (offset_wanted(offset))
            bench_report(name, offset, "MB/s", sample[offset], OFFSET_ROUNDS);
}

#endif
