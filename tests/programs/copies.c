/* Puts and gets of many sizes, at many distances from destination to source: all bytes arrive, and none beside them. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = (1 << 20) + 16384, BESIDE = 64 };

static void check(int all_right, const char *what, size_t size, size_t offset)
{
    if (!all_right) {
        printf("%s of %zu bytes at %zu\n", what, size, offset);
        shmem_global_exit(1);
    }
}

static int is_all(const char *from, int value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (from[i] != value)
            return 0;
    return 1;
}

int main(void)
{
    static const size_t sizes[] = {100, 129, 1000, 4096, 5000, 70000, 300000, 1 << 20}, offsets[] = {0, 1, 8, 40, 64, 4090};
    shmem_init();
    int other = (shmem_my_pe() + 1) % shmem_n_pes();
    char *there = shmem_align(4096, ROOM), *here = aligned_alloc(4096, ROOM), *back = aligned_alloc(4096, ROOM);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            size_t size = sizes[s], offset = BESIDE + offsets[o];
            for (size_t i = 0; i < size; i++)
                here[i] = (char)(i * 7 + i / 251 + s);
            memset(there, 77, ROOM);
            memset(back, 78, ROOM);
            shmem_barrier_all();
            shmem_putmem(there + offset, here, size, other);
            shmem_barrier_all();
            check(memcmp(there + offset, here, size) == 0, "put", size, offset);
            check(is_all(there + offset - BESIDE, 77, BESIDE) && is_all(there + offset + size, 77, BESIDE), "beside put", size, offset);
            shmem_getmem(back + BESIDE, there + offset, size, other);
            check(memcmp(back + BESIDE, here, size) == 0, "get", size, offset);
            check(is_all(back, 78, BESIDE) && is_all(back + BESIDE + size, 78, BESIDE), "beside get", size, offset);
            shmem_barrier_all();
        }
    if (shmem_my_pe() == 0)
        printf("copies are right\n");
    shmem_free(there);
    free(here);
    free(back);
    shmem_finalize();
    return 0;
}
