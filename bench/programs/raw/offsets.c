/* Copies into memory that another process shares, over the offset of the destination against the source (../offsets.h):
 * whether there is a loop that no offset makes slow. */
#define BENCH_RAW
#include "../offsets.h"
#include "copying.h"

#if defined(__x86_64__)
/* Moves of 32 bytes at any alignment of the source; the tail is moved before what it overlaps is written. */
__attribute__((target("avx"))) static void by_moves(void *dest, const void *source, size_t size)
{
    const char *s = source;
    char *d = dest;
    __m256i last = _mm256_loadu_si256((const __m256i *)(s + size - 32)), first = _mm256_loadu_si256((const __m256i *)s);
    size_t i = 32 - (uintptr_t)d % 32;
    _mm256_storeu_si256((__m256i *)d, first);
    for (; i < size - 32; i += 32)
        _mm256_store_si256((__m256i *)(d + i), _mm256_loadu_si256((const __m256i *)(s + i)));
    _mm256_storeu_si256((__m256i *)(d + size - 32), last);
}
#endif

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    unsigned char *there = raw_alloc(OFFSET_ROOM), *here = aligned_alloc(4096, OFFSET_ROOM);
    bench_check(here != NULL, "no memory");
    bench_fill(here, OFFSET_ROOM, 0);
    const struct {
        const char *name;
        offset_copy *by;
        int can;
    } ways[] = {
        {"memcpy", by_memcpy, 1},
#if defined(__x86_64__)
        {"rep_movsb", by_rep_movsb, 1},
        {"moves", by_moves, __builtin_cpu_supports("avx")},
#endif
    };
    for (size_t s = 0; s < sizeof offset_sizes / sizeof *offset_sizes; s++) {
        size_t size = offset_sizes[s];
        if (size > bench.max)
            break;
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            char name[64];
            if (!ways[way].can)
                continue;
            snprintf(name, sizeof name, "raw.at_offset.%zu.%s", size, ways[way].name);
            if (bench.pe == 0)
                offset_measure(name, ways[way].by, there, here, size);
            bench_barrier();
            if (bench.pe == 0)
                ways[way].by(there, here, size);
            bench_barrier();
            if (bench.pe == bench.npes - 1)
                bench_verify(there, size, 0, name);
            bench_barrier();
        }
    }
    bench_finish();
    return 0;
}
