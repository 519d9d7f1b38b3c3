/* PROGRAM with what an implementation can compile into it: oneshmem with SHMEM_INLINE. Its figures have names that
 * begin with `inlined.`. */
#define SHMEM_INLINE
#define BENCH_PREFIX "inlined."
#include <shmem.h>

#ifdef ONESHMEM_SHMEM_INLINE_H
#include PROGRAM
#else
#include "bench.h"

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_skip("inlined", "the implementation has nothing to compile in");
    bench_finish();
    return 0;
}
#endif
