// pes: 1 2
// cflags: -std=c++17
/* rule 15.3: where the compiler has _Complex in C++, the complex routines are there,
 * and std::complex has the same layout. */
#include "check.h"
#include <complex>

static std::complex<double> in, sum;

int main()
{
    shmem_init();
    in = {1.0, 2.0};
    shmem_barrier_all();
    CHECK_EQ(shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD,
                                       reinterpret_cast<double _Complex *>(&sum),
                                       reinterpret_cast<double _Complex *>(&in), 1), 0);
    CHECK_EQ(sum.real(), shmem_n_pes());
    CHECK_EQ(sum.imag(), 2 * shmem_n_pes());
    shmem_finalize();
    return 0;
}
