// pes: 2
// device: no
// variants: all
// inline: no
/* Read-only data of the program are not symmetric, whether the PE has been talked to before or not: no address leads to
 * the other PE's, and routines refuse them by name. So they do what else lies beside the writable data. rule 1.12, rule 1.13 */
// case: pointers pointers
#include "check.h"

static const long table[4] = {10, 20, 30, 40};
static const long *const to_table[2] = {table, table + 1}; /* relocated, then read-only */
static long word;

/* What the compiler knows nothing about. */
static long *volatile constant;

static void all_null(int pe)
{
    CHECK_EQ(shmem_addr_accessible(table, pe), 0);
    CHECK(shmem_ptr(table, pe) == NULL);
    CHECK(shmem_ptr(to_table, pe) == NULL);
    CHECK(shmem_ptr((void *)(uintptr_t)all_null, pe) == NULL);
    CHECK(shmem_ptr("a constant", pe) == NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    shmem_init();
    int to = !shmem_my_pe();
    long *heap = shmem_malloc(64), here[8] = {0};
    constant = (long *)(uintptr_t)table;
    all_null(to);
    FAILS("first-get", "shmem_long_get source read-only") shmem_long_get(here, constant, 4, to);
    FAILS("first-put", "shmem_long_p dest read-only") shmem_long_p(constant, 1, to);
    FAILS("first-add", "shmem_long_atomic_add dest read-only") shmem_long_atomic_add(constant, 1, to);
    shmem_long_p(&word, 1, to);
    CHECK_EQ(shmem_ptr(&word, to) != NULL, shmem_ptr(heap, to) != NULL);
    CHECK(shmem_ptr(&word, !to) == &word && shmem_ptr(heap, !to) == heap);
    all_null(to);
    all_null(!to);
    FAILS("p", "shmem_long_p dest read-only") shmem_long_p(constant, 1, to);
    FAILS("g", "shmem_long_g source read-only") here[0] = shmem_long_g(constant, to);
    FAILS("get", "shmem_long_get source read-only") shmem_long_get(here, constant, 4, to);
    FAILS("put", "shmem_putmem dest read-only") shmem_putmem(constant, here, 8, to);
    FAILS("put-nbi", "shmem_put64_nbi dest read-only") shmem_put64_nbi(constant, here, 1, to);
    FAILS("iput", "shmem_long_iput dest read-only") shmem_long_iput(constant, here, 2, 1, 2, to);
    FAILS("relocated", "shmem_getmem source read-only") shmem_getmem(here, to_table, 16, to);
    FAILS("code", "shmem_getmem source code") shmem_getmem(here, (void *)(uintptr_t)all_null, 16, to);
    FAILS("fetch", "shmem_long_atomic_fetch source read-only") here[0] = shmem_long_atomic_fetch(constant, to);
    FAILS("add", "shmem_long_atomic_add dest read-only") shmem_long_atomic_add(constant, 1, to);
    FAILS("cas", "shmem_long_atomic_compare_swap dest read-only") here[0] = shmem_long_atomic_compare_swap(constant, 1, 2, to);
    FAILS("signal", "shmem_putmem_signal sig_addr read-only")
        shmem_putmem_signal(&word, here, 8, (uint64_t *)constant, 1, SHMEM_SIGNAL_ADD, to);
    FAILS("signal-data", "shmem_putmem_signal dest read-only")
        shmem_putmem_signal(constant, here, 8, (uint64_t *)&word, 1, SHMEM_SIGNAL_ADD, to);
    FAILS("signal-add", "shmem_signal_add: sig_addr read-only") shmem_signal_add((uint64_t *)constant, 1, to);
    FAILS("lock", "shmem_set_lock: lock") shmem_set_lock(constant);
    FAILS("reduce", "shmem_long_sum_reduce dest") shmem_long_sum_reduce(SHMEM_TEAM_WORLD, constant, &word, 1);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
