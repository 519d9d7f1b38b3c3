/* narrow: a job in an address space of 39 bits, as some kernels for AArch64 give: what lies beyond is taken. It is
 * linked at a fixed address, which is below. */
#include "../c/check.h"
#include <sys/mman.h>

static const uintptr_t END = (uintptr_t)1 << 39;

static long data;

/* Takes the free pages of these addresses; leaves holes of less than 4 GiB. */
static void take(uintptr_t start, uintptr_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap((void *)start, bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED || bytes <= (uintptr_t)4 << 30)
        return;
    take(start, bytes / 2);
    take(start + bytes / 2, bytes / 2);
}

static void take_what_is_beyond(void)
{
    for (uintptr_t start = END; start < (uintptr_t)1 << 48; start += END)
        take(start, END);
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
