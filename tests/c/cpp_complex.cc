// pes: 1 2
// cflags: -std=c++17
/* rule 15.3: where the compiler has _Complex in C++, the complex routines are there,
 * and std::complex has the same layout; they take it where <complex> comes first. */
#include <complex>
#include "check.h"

static std::complex<double> in, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static std::complex<float> in_float, product;
static long psync[SHMEM_REDUCE_SYNC_SIZE];

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
    CHECK_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &in, 1), 0);
    CHECK(sum == std::complex<double>(shmem_n_pes(), 2 * shmem_n_pes()));
    for (long &word : psync)
        word = SHMEM_SYNC_VALUE;
    in_float = {0, 1};
    shmem_barrier_all();
    CHECK_EQ(shmem_complexf_prod_reduce(SHMEM_TEAM_WORLD, &product, &in_float, 1), 0);
    CHECK(product == (shmem_n_pes() == 1 ? std::complex<float>(0, 1) : std::complex<float>(-1, 0)));
    shmem_complexd_sum_to_all(&sum, &in, 1, 0, 0, shmem_n_pes(), work, psync);
    CHECK(sum == std::complex<double>(shmem_n_pes(), 2 * shmem_n_pes()));
    shmem_finalize();
    return 0;
}
