/* heaps_apart: PE 1 has allocated more than PE 0 before shmem_init, so on Kitten, where the
 * symmetric heap is memory like any other, the PEs' heaps do not lie at one address. */
#include <shmem.h>
#include <sys/mman.h>
#include <unistd.h>

static long data;

int main(void)
{
    if (getpid() & 1)
        mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shmem_init();
    shmem_long_p(&data, 1, 1 - shmem_my_pe());
    shmem_finalize();
    return 0;
}
