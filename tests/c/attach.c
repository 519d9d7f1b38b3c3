// SHMEM_ATTACH=eager: shmem_init maps all peers of the node, and the first use of one maps nothing; results are as on demand.
// pes: 1 2 3 8
// case: demand | env=SHMEM_ATTACH=demand
// case: eager | env=SHMEM_ATTACH=eager
// case: eager-stats | env=SHMEM_ATTACH=eager env=SHMEM_STATS=1
#include "check.h"
#include <string.h>

static long word;

// Mappings of this process; -1 where there is no /proc.
static long mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    if (file == NULL)
        return -1;
    long lines = 0;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

int main(void)
{
    const char *attach = getenv("SHMEM_ATTACH");
    int eager = attach != NULL && strcmp(attach, "eager") == 0;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), near = 0;
    mappings(); // stdio's own memory
    long before = mappings();
    for (int pe = 0; pe < npes; pe++) {
        near += shmem_ptr(&word, pe) != NULL;
        shmem_long_atomic_add(&word, me + 1, pe);
    }
    CHECK(!eager || mappings() == before);
    CHECK(near >= 1);
    shmem_barrier_all();
    CHECK(word == (long)npes * (npes + 1) / 2);
    shmem_finalize();
    return 0;
}
