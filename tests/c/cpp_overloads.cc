// pes: 2
// cflags: -std=c++11
/* rule 15.4: the C names from C++, and the generic names as overloads. */
#include "check.h"

static long l_object[4];
static double d_object[4];
static int i_object;

int main()
{
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes();
    long l_source[4] = {1, 2, 3, me};
    const double d_source[4] = {1.5, 2.5, 3.5, 4.5};
    shmem_put(l_object, l_source, 4, to);
    shmem_put(SHMEM_CTX_DEFAULT, d_object, d_source, 4, to);
    shmem_p(&i_object, 5, to);
    shmem_barrier_all();
    CHECK_EQ(l_object[3], 1 - me);
    CHECK_EQ(d_object[1], 2.5);
    CHECK_EQ(shmem_g(&i_object, to), 5);
    shmem_barrier_all();
    CHECK_EQ(shmem_atomic_fetch_add(&i_object, 2, me), 5);
    CHECK_EQ(i_object, 7);
    shmem_finalize();
    return 0;
}
