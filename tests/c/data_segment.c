// pes: 1 2 4 7
// variants: all
/* rule 0.8: every kind of global and static object of the program is symmetric and
 * keeps the value it had before initialisation, wherever the linker put it. */
#include "check.h"

enum { BIG = 64 << 20, INITIALISED = 1 << 20 };
static char zeroed[BIG];              /* .bss, all of it touched */
static long initialised[INITIALISED] = {[0] = 1, [1] = 2, [INITIALISED - 1] = 3}; /* 8 MiB of .data */
long common;                          /* with external linkage */
static long written_before = 10;
static struct {
    char odd;
    short values[3];
} packed = {'x', {1, 2, 3}};
static long *const pointer_to_itself = &common; /* relocated */
static const char constant[] = "constant";

static long *in_function(void)
{
    static long counter = 41;
    counter++;
    return &counter;
}

int main(void)
{
    written_before = 11;
    zeroed[BIG - 1] = 'z';
    initialised[5] = 55;
    long *counter = in_function();
    CHECK_EQ(*counter, 42);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes, from = (me + npes - 1) % npes;
    CHECK_EQ(written_before, 11);
    CHECK_EQ(zeroed[BIG - 1], 'z');
    CHECK_EQ(initialised[0] + initialised[1] + initialised[INITIALISED - 1], 6);
    CHECK_EQ(initialised[5], 55);
    CHECK_EQ(*counter, 42);
    CHECK(pointer_to_itself == &common);
    CHECK_EQ(packed.odd, 'x');
    /* Other PEs see these values too, and need no barrier of the program's for it. */
    CHECK_EQ(shmem_long_g(&initialised[INITIALISED - 1], to), 3);
    shmem_barrier_all();

    shmem_long_p(&common, 1000 + me, to);
    shmem_long_p(counter, 2000 + me, to);
    shmem_long_p(&written_before, 3000 + me, to);
    shmem_long_p(&initialised[INITIALISED / 2], 4000 + me, to);
    shmem_short_p(&packed.values[1], (short)(5000 + me), to);
    char *half = malloc(BIG / 2);
    memset(half, 'a' + me, BIG / 2);
    shmem_putmem(zeroed + BIG / 4, half, BIG / 2, to); /* to pages nobody has touched */
    shmem_barrier_all();
    CHECK_EQ(common, 1000 + from);
    CHECK_EQ(*counter, 2000 + from);
    CHECK_EQ(written_before, 3000 + from);
    CHECK_EQ(initialised[INITIALISED / 2], 4000 + from);
    CHECK_EQ(packed.values[1], 5000 + from);
    CHECK_EQ(packed.values[0] + packed.values[2], 4);
    for (int i = 0; i < BIG; i += 1021)
        CHECK_EQ(zeroed[i], i >= BIG / 4 && i < BIG / 4 * 3 ? 'a' + from : 0);
    CHECK_EQ(constant[0], 'c');
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
