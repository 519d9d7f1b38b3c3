// inline: no
// pes: 1 2
// variants: pie static
/* rule 0.14, rule 14.1, rule 14.2: a program overrides shmem_ names and calls the pshmem_ twins. */
#include <pshmem.h>
#include <pshmemx.h>
#include "check.h"

static int puts_seen, barriers_seen;
static long object;

void shmem_long_p(long *dest, long value, int pe)
{
    puts_seen++;
    pshmem_long_p(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

/* So does it with an extension. */
double shmemx_wtime(void)
{
    puts_seen += 100;
    return pshmemx_wtime();
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), to = (pshmem_my_pe() + 1) % pshmem_n_pes();
    int before = barriers_seen;
    shmem_long_p(&object, 100 + me, to);
    shmem_barrier_all();
    CHECK_EQ(puts_seen, 1);
    CHECK(shmemx_wtime() > 0);
    CHECK_EQ(puts_seen, 101);
    CHECK_EQ(pshmemx_equal_addresses(), shmemx_equal_addresses());
    CHECK_EQ(barriers_seen, before + 1);
    CHECK_EQ(object, 100 + (me + pshmem_n_pes() - 1) % pshmem_n_pes());
    /* The library itself does not go through the program's names. */
    void *block = shmem_malloc(64);
    shmem_free(block);
    CHECK_EQ(barriers_seen, before + 1);
    pshmem_long_p(&object, 5, me);
    CHECK_EQ(pshmem_long_g(&object, me), 5);
    pshmem_barrier_all();
    shmem_finalize();
    return 0;
}
