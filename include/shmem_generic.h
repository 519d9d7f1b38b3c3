/* shmem_generic.h - the type-generic names of C11; part of shmem.h.
 *
 * shmem_put(dest, source, nelems, pe) calls the shmem_TYPENAME_put that fits the type of
 * `*dest`; with a context as first argument it calls the shmem_ctx_TYPENAME_put.
 *
 * Generated from interface/routines.txt and interface/constants.txt by `make headers`.
 */

/* ---- How an argument is looked at ------------------------------------------------------------ */

#define ONESHMEM_FIRST(...) ONESHMEM_FIRST_(__VA_ARGS__, 0)
#define ONESHMEM_FIRST_(a, ...) (a)
#define ONESHMEM_SECOND(...) ONESHMEM_SECOND_(__VA_ARGS__, 0)
#define ONESHMEM_SECOND_(a, b, ...) (b)

/* The argument that decides: the first, or the second if the first is a context. */
#define ONESHMEM_AFTER_CTX(...)                    \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),          \
        shmem_ctx_t: ONESHMEM_SECOND(__VA_ARGS__), \
        default: ONESHMEM_FIRST(__VA_ARGS__))

/* Routines with and without a context. `_Generic` checks the branch not taken too, so both look
 * at the deciding argument, in the same list of types. */
#define ONESHMEM_WITH_CTX(types, op, ...)                                                \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),                                                \
        shmem_ctx_t: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__), types(, shmem_ctx_, op)), \
        default: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__), types(, shmem_, op)))(__VA_ARGS__)

/* The same where the deciding argument may point to constant elements. */
#define ONESHMEM_WITH_CTX_CONST(types, op, ...)                     \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),                           \
        shmem_ctx_t: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__),      \
            types(, shmem_ctx_, op), types(const, shmem_ctx_, op)), \
        default: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__),          \
            types(, shmem_, op), types(const, shmem_, op)))(__VA_ARGS__)

/* Routines that have no context, by their first or second argument. */
#define ONESHMEM_BY_FIRST(types, op, ...) \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__), types(, shmem_, op))(__VA_ARGS__)
#define ONESHMEM_BY_FIRST_CONST(types, op, ...) \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),       \
        types(, shmem_, op), types(const, shmem_, op))(__VA_ARGS__)
#define ONESHMEM_BY_SECOND(types, op, ...) \
    _Generic(ONESHMEM_SECOND(__VA_ARGS__), types(, shmem_, op))(__VA_ARGS__)

/* ---- Tables of types ------------------------------------------------------------------------- */

/* _Generic can list a type once only, and on 64-bit Linux int32_t is int, int64_t and ptrdiff_t
 * are long, size_t is unsigned long, ...: the first TYPENAME of a type stands for all. */

#define ONESHMEM_rma_std(qualifier, prefix, op)            \
    qualifier float *: prefix##float##op,                  \
    qualifier double *: prefix##double##op,                \
    qualifier long double *: prefix##longdouble##op,       \
    qualifier char *: prefix##char##op,                    \
    qualifier signed char *: prefix##schar##op,            \
    qualifier short *: prefix##short##op,                  \
    qualifier int *: prefix##int##op,                      \
    qualifier long *: prefix##long##op,                    \
    qualifier long long *: prefix##longlong##op,           \
    qualifier unsigned char *: prefix##uchar##op,          \
    qualifier unsigned short *: prefix##ushort##op,        \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op

#define ONESHMEM_amo_ext(qualifier, prefix, op)            \
    qualifier float *: prefix##float##op,                  \
    qualifier double *: prefix##double##op,                \
    qualifier int *: prefix##int##op,                      \
    qualifier long *: prefix##long##op,                    \
    qualifier long long *: prefix##longlong##op,           \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op

#define ONESHMEM_legacy_amo_ext(qualifier, prefix, op) \
    qualifier float *: prefix##float##op,              \
    qualifier double *: prefix##double##op,            \
    qualifier int *: prefix##int##op,                  \
    qualifier long *: prefix##long##op,                \
    qualifier long long *: prefix##longlong##op

#define ONESHMEM_amo_std(qualifier, prefix, op)            \
    qualifier int *: prefix##int##op,                      \
    qualifier long *: prefix##long##op,                    \
    qualifier long long *: prefix##longlong##op,           \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op

#define ONESHMEM_legacy_amo_std(qualifier, prefix, op) \
    qualifier int *: prefix##int##op,                  \
    qualifier long *: prefix##long##op,                \
    qualifier long long *: prefix##longlong##op

#define ONESHMEM_amo_bit(qualifier, prefix, op)            \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op, \
    qualifier int *: prefix##int32##op,                    \
    qualifier long *: prefix##int64##op

#define ONESHMEM_coll_team_data ONESHMEM_rma_std

#define ONESHMEM_reduce_team_and(qualifier, prefix, op)    \
    qualifier unsigned char *: prefix##uchar##op,          \
    qualifier unsigned short *: prefix##ushort##op,        \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op, \
    qualifier signed char *: prefix##int8##op,             \
    qualifier short *: prefix##int16##op,                  \
    qualifier int *: prefix##int32##op,                    \
    qualifier long *: prefix##int64##op

#define ONESHMEM_reduce_team_or ONESHMEM_reduce_team_and

#define ONESHMEM_reduce_team_xor ONESHMEM_reduce_team_and

#define ONESHMEM_reduce_team_max(qualifier, prefix, op)    \
    qualifier char *: prefix##char##op,                    \
    qualifier signed char *: prefix##schar##op,            \
    qualifier short *: prefix##short##op,                  \
    qualifier int *: prefix##int##op,                      \
    qualifier long *: prefix##long##op,                    \
    qualifier long long *: prefix##longlong##op,           \
    qualifier unsigned char *: prefix##uchar##op,          \
    qualifier unsigned short *: prefix##ushort##op,        \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op, \
    qualifier float *: prefix##float##op,                  \
    qualifier double *: prefix##double##op,                \
    qualifier long double *: prefix##longdouble##op

#define ONESHMEM_reduce_team_min ONESHMEM_reduce_team_max

#define ONESHMEM_reduce_team_sum(qualifier, prefix, op)    \
    qualifier char *: prefix##char##op,                    \
    qualifier signed char *: prefix##schar##op,            \
    qualifier short *: prefix##short##op,                  \
    qualifier int *: prefix##int##op,                      \
    qualifier long *: prefix##long##op,                    \
    qualifier long long *: prefix##longlong##op,           \
    qualifier unsigned char *: prefix##uchar##op,          \
    qualifier unsigned short *: prefix##ushort##op,        \
    qualifier unsigned int *: prefix##uint##op,            \
    qualifier unsigned long *: prefix##ulong##op,          \
    qualifier unsigned long long *: prefix##ulonglong##op, \
    qualifier float *: prefix##float##op,                  \
    qualifier double *: prefix##double##op,                \
    qualifier long double *: prefix##longdouble##op,       \
    qualifier double _Complex *: prefix##complexd##op,     \
    qualifier float _Complex *: prefix##complexf##op

#define ONESHMEM_reduce_team_prod ONESHMEM_reduce_team_sum

#define ONESHMEM_scan_team_sum ONESHMEM_reduce_team_sum

#define ONESHMEM_p2p_or_p2p_single_deprecated_extra(qualifier, prefix, op) \
    qualifier int *: prefix##int##op,                                      \
    qualifier long *: prefix##long##op,                                    \
    qualifier long long *: prefix##longlong##op,                           \
    qualifier unsigned int *: prefix##uint##op,                            \
    qualifier unsigned long *: prefix##ulong##op,                          \
    qualifier unsigned long long *: prefix##ulonglong##op,                 \
    qualifier short *: prefix##short##op,                                  \
    qualifier unsigned short *: prefix##ushort##op

#define ONESHMEM_p2p ONESHMEM_amo_std

/* ---- Remote memory access -------------------------------------------------------------------- */

#define shmem_put(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _put, __VA_ARGS__)
#define shmem_get(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _get, __VA_ARGS__)
#define shmem_p(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _p, __VA_ARGS__)
#define shmem_g(...) ONESHMEM_WITH_CTX_CONST(ONESHMEM_rma_std, _g, __VA_ARGS__)
#define shmem_iput(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _iput, __VA_ARGS__)
#define shmem_iget(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _iget, __VA_ARGS__)
#define shmem_ibput(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _ibput, __VA_ARGS__)
#define shmem_ibget(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _ibget, __VA_ARGS__)

/* ---- Nonblocking remote memory access -------------------------------------------------------- */

#define shmem_put_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _get_nbi, __VA_ARGS__)

/* ---- Atomic operations ----------------------------------------------------------------------- */

#define shmem_atomic_fetch(...) ONESHMEM_WITH_CTX_CONST(ONESHMEM_amo_ext, _atomic_fetch, __VA_ARGS__)
#define shmem_fetch(...) ONESHMEM_BY_FIRST_CONST(ONESHMEM_legacy_amo_ext, _fetch, __VA_ARGS__)
#define shmem_atomic_set(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_ext, _atomic_set, __VA_ARGS__)
#define shmem_set(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_ext, _set, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_compare_swap, __VA_ARGS__)
#define shmem_cswap(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_std, _cswap, __VA_ARGS__)
#define shmem_atomic_swap(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_ext, _atomic_swap, __VA_ARGS__)
#define shmem_swap(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_ext, _swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_finc(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_std, _finc, __VA_ARGS__)
#define shmem_atomic_inc(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_inc, __VA_ARGS__)
#define shmem_inc(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_std, _inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_fetch_add, __VA_ARGS__)
#define shmem_fadd(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_std, _fadd, __VA_ARGS__)
#define shmem_atomic_add(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_add, __VA_ARGS__)
#define shmem_add(...) ONESHMEM_BY_FIRST(ONESHMEM_legacy_amo_std, _add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_xor, __VA_ARGS__)

/* ---- Nonblocking atomic operations ----------------------------------------------------------- */

#define shmem_atomic_fetch_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_ext, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_ext, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_std, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_amo_bit, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* ---- Signals --------------------------------------------------------------------------------- */

#define shmem_put_signal(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) ONESHMEM_WITH_CTX(ONESHMEM_rma_std, _put_signal_nbi, __VA_ARGS__)
#define shmem_signal_add(...)                  \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__), \
        shmem_ctx_t: shmem_ctx_signal_add, default: shmem_signal_add)(__VA_ARGS__)
#define shmem_signal_set(...)                  \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__), \
        shmem_ctx_t: shmem_ctx_signal_set, default: shmem_signal_set)(__VA_ARGS__)

/* ---- Collectives ----------------------------------------------------------------------------- */

#define shmem_sync(...)                  \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__), \
        shmem_team_t: shmem_team_sync, default: shmem_sync)(__VA_ARGS__)
#define shmem_broadcast(...) ONESHMEM_BY_SECOND(ONESHMEM_coll_team_data, _broadcast, __VA_ARGS__)
#define shmem_collect(...) ONESHMEM_BY_SECOND(ONESHMEM_coll_team_data, _collect, __VA_ARGS__)
#define shmem_fcollect(...) ONESHMEM_BY_SECOND(ONESHMEM_coll_team_data, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) ONESHMEM_BY_SECOND(ONESHMEM_coll_team_data, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) ONESHMEM_BY_SECOND(ONESHMEM_coll_team_data, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_and, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_or, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_xor, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_max, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_min, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_sum, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) ONESHMEM_BY_SECOND(ONESHMEM_reduce_team_prod, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) ONESHMEM_BY_SECOND(ONESHMEM_scan_team_sum, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) ONESHMEM_BY_SECOND(ONESHMEM_scan_team_sum, _sum_exscan, __VA_ARGS__)

/* ---- Waiting for other PEs ------------------------------------------------------------------- */

#define shmem_wait_until(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p_or_p2p_single_deprecated_extra, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p_or_p2p_single_deprecated_extra, _test, __VA_ARGS__)
#define shmem_test_all(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_all, __VA_ARGS__)
#define shmem_test_any(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_any, __VA_ARGS__)
#define shmem_test_some(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) ONESHMEM_BY_FIRST(ONESHMEM_p2p, _test_some_vector, __VA_ARGS__)

