// pes: 1 4
// backends: memfd xpmem
/* Our own: calloc makes the pages of fresh memory at once, where the kernel can (Linux 5.14). Kitten's
 * memory has all its pages from the start. */
#include "check.h"
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 50 };

static int can_populate(size_t page)
{
    char *trial = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(trial != MAP_FAILED);
    int result = madvise(trial, page, 23 /* MADV_POPULATE_WRITE */) == 0;
    CHECK_EQ(munmap(trial, page), 0);
    return result;
}

int main(void)
{
    shmem_init();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int can = can_populate(page);
    char *block = shmem_calloc(PAGES, page);
    CHECK(block != NULL);
    unsigned char made[PAGES];
    uintptr_t start = (uintptr_t)block / page * page;
    CHECK_EQ(mincore((void *)start, sizeof made * page, made), 0);
    for (int i = 0; i < PAGES && can; i++)
        CHECK_EQ(made[i] & 1, 1);
    for (size_t i = 0; i < PAGES * page; i++)
        CHECK_EQ(block[i], 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
