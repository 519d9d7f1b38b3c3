// pes: 1 2 4 7
// cflags: -Wno-deprecated-declarations
/* rule 7.8, a program of the years before 1.4, unchanged, with the
 * mpp header and the names of old. */
#include <mpp/shmem.h>
#include "check.h"

static int i_object;
static long l_object, l_lock;
static long long ll_object;
static float f_object;
static double d_object;
static long pSync[_SHMEM_BCAST_SYNC_SIZE];
static long array[10], copy[10];

#define LEGACY(NAME, TYPE, OBJECT)                                                        \
    shmem_##NAME##_set(&OBJECT, (TYPE)5, next);                                           \
    CHECK_EQ(shmem_##NAME##_fetch(&OBJECT, next), (TYPE)5);                               \
    CHECK_EQ(shmem_##NAME##_swap(&OBJECT, (TYPE)6, next), (TYPE)5);                       \
    CHECK_EQ(shmem_##NAME##_fetch(&OBJECT, next), (TYPE)6);
#define LEGACY_INTEGER(NAME, TYPE, OBJECT)                                                \
    LEGACY(NAME, TYPE, OBJECT)                                                            \
    CHECK_EQ(shmem_##NAME##_cswap(&OBJECT, (TYPE)6, (TYPE)7, next), (TYPE)6);             \
    CHECK_EQ(shmem_##NAME##_finc(&OBJECT, next), (TYPE)7);                                \
    shmem_##NAME##_inc(&OBJECT, next);                                                    \
    CHECK_EQ(shmem_##NAME##_fadd(&OBJECT, (TYPE)10, next), (TYPE)9);                      \
    shmem_##NAME##_add(&OBJECT, (TYPE)-4, next);                                          \
    CHECK_EQ(shmem_##NAME##_fetch(&OBJECT, next), (TYPE)15);

int main(void)
{
    start_pes(0);
    int me = _my_pe(), npes = _num_pes(), next = (me + 1) % npes;
    LEGACY_INTEGER(int, int, i_object)
    LEGACY_INTEGER(long, long, l_object)
    LEGACY_INTEGER(longlong, long long, ll_object)
    LEGACY(float, float, f_object)
    LEGACY(double, double, d_object)
    for (int i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    for (int i = 0; i < 10; i++)
        array[i] = me * 10 + i;
    long *heap = shmalloc(sizeof *heap);
    CHECK(heap != NULL);
    shmem_barrier_all();
    shmem_broadcast64(copy, array, 10, 0, 0, 0, npes, pSync);
    CHECK_EQ(copy[9], me == 0 ? 0 : 9);
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(array);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(array);
    shmem_udcflush();
    shmem_udcflush_line(array);
    shmem_set_lock(&l_lock);
    shmem_clear_lock(&l_lock);
    *heap = 0;
    shmem_barrier_all();
    shmem_long_p(heap, 3, next);
    shmem_long_wait(heap, 0);
    CHECK_EQ(*heap, 3);
    shmem_barrier_all();
    shmem_long_inc(heap, next);
    shmem_long_wait_until(heap, _SHMEM_CMP_EQ, 4);
    shfree(heap);
    return 0;
}
