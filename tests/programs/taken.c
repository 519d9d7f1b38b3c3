/* taken: something is mapped where PE 0's copy of this program's data has to appear. */
#include <shmem.h>
#include <stdio.h>
#include <sys/mman.h>

static long data[1024];

int main(void)
{
    char *alias = (char *)((unsigned long)data | 1UL << 39);
    char *page = (char *)((unsigned long)alias & ~4095UL);
    if (mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
        return 3;
    shmem_init();
    shmem_long_p(data, 1, 0);
    shmem_finalize();
    return 0;
}
