/* ckernels.c - what Rust cannot say: long double and complex arithmetic, long
 * double by value, and a variable argument list.
 *
 * Everything is hidden except the routines of the C interface. As everywhere, the
 * profiling twin is the strong symbol and the routine a weak alias of it.
 */
#include "pshmem.h"
#include <math.h>

#define ROUTINE __attribute__((visibility("default")))
#define WEAK_ALIAS(name) \
    extern __typeof__(p##name) name __attribute__((weak, alias("p" #name), visibility("default")))

/* acc[i] = a[i] op x[i], with C's own rules; acc may be a or x. */
#define KERNEL(name, TYPE, expression)                                           \
    void oneshmem_##name(TYPE *acc, const TYPE *as, const TYPE *xs, size_t n);   \
    void oneshmem_##name(TYPE *acc, const TYPE *as, const TYPE *xs, size_t n)    \
    {                                                                            \
        for (size_t i = 0; i < n; i++) {                                         \
            const TYPE a = as[i], b = xs[i];                                     \
            acc[i] = (expression);                                               \
        }                                                                        \
    }

/* IEEE 754-2019's maximum and minimum: NaN if one is a NaN, and -0 < +0. */
#define NAN_OR(number) isunordered(a, b) ? NAN : (number)
KERNEL(longdouble_max, long double, NAN_OR(b > a || (b == a && signbit(a)) ? b : a))
KERNEL(longdouble_min, long double, NAN_OR(b < a || (b == a && signbit(b)) ? b : a))
KERNEL(longdouble_sum, long double, a + b)
KERNEL(longdouble_prod, long double, a * b)
KERNEL(complexf_sum, float _Complex, a + b)
KERNEL(complexf_prod, float _Complex, a * b)
KERNEL(complexd_sum, double _Complex, a + b)
KERNEL(complexd_prod, double _Complex, a * b)

/* In Rust: src/long_double.rs. */
void oneshmem_longdouble_p(long double *dest, const long double *value, int pe);
void oneshmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, const long double *value, int pe);
void oneshmem_longdouble_g(long double *value, const long double *source, int pe);
void oneshmem_ctx_longdouble_g(long double *value, shmem_ctx_t ctx, const long double *source, int pe);

ROUTINE void pshmem_longdouble_p(long double *dest, long double value, int pe)
{
    oneshmem_longdouble_p(dest, &value, pe);
}
WEAK_ALIAS(shmem_longdouble_p);

ROUTINE void pshmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe)
{
    oneshmem_ctx_longdouble_p(ctx, dest, &value, pe);
}
WEAK_ALIAS(shmem_ctx_longdouble_p);

ROUTINE long double pshmem_longdouble_g(const long double *source, int pe)
{
    long double value;
    oneshmem_longdouble_g(&value, source, pe);
    return value;
}
WEAK_ALIAS(shmem_longdouble_g);

ROUTINE long double pshmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe)
{
    long double value;
    oneshmem_ctx_longdouble_g(&value, ctx, source, pe);
    return value;
}
WEAK_ALIAS(shmem_ctx_longdouble_g);

ROUTINE void pshmem_pcontrol(int level, ...)
{
    (void)level; /* a word to profiling tools, which define shmem_pcontrol themselves */
}
WEAK_ALIAS(shmem_pcontrol);
