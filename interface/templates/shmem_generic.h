/* shmem_generic.h - the type-generic names of C11; part of shmem.h.
 *
 * shmem_put(dest, source, nelems, pe) calls the shmem_TYPENAME_put that fits the type of
 * `*dest`; with a context as first argument it calls the shmem_ctx_TYPENAME_put.
 *
 * @GENERATED@
 */

@HEADING How an argument is looked at@
#define ONESHMEM_FIRST(...) ONESHMEM_FIRST_(__VA_ARGS__, 0)
#define ONESHMEM_FIRST_(a, ...) (a)
#define ONESHMEM_SECOND(...) ONESHMEM_SECOND_(__VA_ARGS__, 0)
#define ONESHMEM_SECOND_(a, b, ...) (b)

/* The argument that decides: the first, or the second if the first is a context. */
#define ONESHMEM_AFTER_CTX(...)                    \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),          \
        shmem_ctx_t: ONESHMEM_SECOND(__VA_ARGS__), \
        default: ONESHMEM_FIRST(__VA_ARGS__))

/* The types of a table as pointers, and those to constant elements, for routines that only read. Volatile
 * elements select, too, and then the compiler says of the routine's parameter what it always says. */
#define ONESHMEM_WRITTEN(types, prefix, op) types(, prefix, op), types(volatile, prefix, op)
#define ONESHMEM_READ(types, prefix, op) \
    ONESHMEM_WRITTEN(types, prefix, op), types(const, prefix, op), types(const volatile, prefix, op)

/* Routines with and without a context. `_Generic` checks the branch not taken too, so both look
 * at the deciding argument, in the same list of types. */
#define ONESHMEM_WITH_CTX(access, types, op, ...)                                                \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__),                                                        \
        shmem_ctx_t: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__), access(types, shmem_ctx_, op)),   \
        default: _Generic(ONESHMEM_AFTER_CTX(__VA_ARGS__), access(types, shmem_, op)))(__VA_ARGS__)

/* Routines that have no context, by their first or second argument. */
#define ONESHMEM_BY_FIRST(access, types, op, ...) \
    _Generic(ONESHMEM_FIRST(__VA_ARGS__), access(types, shmem_, op))(__VA_ARGS__)
#define ONESHMEM_BY_SECOND(access, types, op, ...) \
    _Generic(ONESHMEM_SECOND(__VA_ARGS__), access(types, shmem_, op))(__VA_ARGS__)

@HEADING Tables of types@
/* _Generic can list a type once only, and on 64-bit Linux int32_t is int, int64_t and ptrdiff_t
 * are long, size_t is unsigned long, ...: the first TYPENAME of a type stands for all. */

@TABLES@
@NAMES@
