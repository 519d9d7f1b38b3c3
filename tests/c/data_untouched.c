// pes: 1 2 4
// variants: pie no-pie
// cflags: -mcmodel=medium
/* A .bss of 4 GiB that is not touched costs neither time nor memory: each PE's
 * resident memory stays far below it, and its two ends are symmetric all the same. */
#include "check.h"

static char huge[(size_t)4 << 30];

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmRSS: %ld", &kib);
    if (f != NULL)
        fclose(f);
    return kib;
}

int main(void)
{
    huge[7] = 'b'; /* before */
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes, from = (me + npes - 1) % npes;
    CHECK_EQ(huge[7], 'b');
    char *end = &huge[sizeof huge - 1];
    shmem_char_p(end, (char)('A' + me), to);
    shmem_char_p(&huge[8], (char)('a' + me), to);
    shmem_barrier_all();
    CHECK_EQ(*end, 'A' + from);
    CHECK_EQ(huge[8], 'a' + from);
    CHECK(resident_kib() > 0);
    CHECK(resident_kib() < 256 << 10);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
