/* narrow: a job in an address space of 39 bits, as some kernels for AArch64 give: what lies beyond is taken. It is
 * linked at a fixed address, which is below. */
#include "../c/check.h"
#include <sys/mman.h>

static const uintptr_t END = (uintptr_t)1 << 39;

static long data;

/* The kernel gives the highest free addresses first: large pieces, then what is left between them. */
static void take_what_is_beyond(void)
{
    for (size_t bytes = (size_t)1 << 52; bytes >= 4096; bytes /= 2) {
        for (;;) {
            char *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (at == MAP_FAILED)
                break;
            if ((uintptr_t)at < END) {
                munmap(at, bytes);
                break;
            }
        }
    }
}

/* The next PE's copy is in that space, and is what this PE writes to. */
static void reach(long *at, int me, int npes)
{
    int to = (me + 1) % npes;
    CHECK((uintptr_t)at < END && (uintptr_t)shmem_ptr(at, to) < END);
    shmem_long_p(at, me + 1, to);
    shmem_barrier_all();
    CHECK_EQ(*at, (me + npes - 1) % npes + 1);
}

int main(void)
{
    take_what_is_beyond();
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *heap = shmem_malloc(sizeof *heap);
    CHECK(heap);
    reach(&data, me, npes);
    reach(heap, me, npes);
    shmem_finalize();
    return 0;
}
