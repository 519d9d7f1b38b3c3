/* shmem.h - OpenSHMEM 1.6, as oneshmem implements it.
 *
 * Each routine is described where it is declared. What the descriptions take for granted:
 *
 *   PE          one process of the job; they are numbered from 0.
 *   symmetric   existing on every PE: global and static variables of the program, and memory
 *               from shmem_malloc. Its local address names the copy of any PE.
 *   TYPENAME    a type in the name of a routine, as in shmem_longdouble_put. C11 programs leave
 *               it out and write shmem_put (shmem_generic.h); so can C++ (shmem_overloads.h).
 *   SIZE        the size of an element in bits, as in shmem_put64; `mem` counts bytes.
 *   ctx         the context a routine belongs to; without one it is SHMEM_CTX_DEFAULT.
 *   count       a count of 0 is allowed everywhere, and then the pointer may be null.
 *
 * @GENERATED@
 */
#ifndef ONESHMEM_TYPES_H
#define ONESHMEM_TYPES_H

#include <stddef.h> /* size_t, ptrdiff_t */
#include <stdint.h> /* int32_t, ..., SIZE_MAX */

/* What the languages that include this header spell differently. */
#if defined(__cplusplus)
#  define ONESHMEM_SYMBOL extern "C"
#  define ONESHMEM_CAST(TYPE, value) reinterpret_cast<TYPE>(value)
#else
#  define ONESHMEM_SYMBOL extern
#  define ONESHMEM_CAST(TYPE, value) ((TYPE)(value))
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#  define ONESHMEM_NORETURN [[noreturn]]
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#  define ONESHMEM_NORETURN _Noreturn
#elif defined(__GNUC__)
#  define ONESHMEM_NORETURN __attribute__((__noreturn__))
#else
#  define ONESHMEM_NORETURN
#endif
/* Called through the address that the linker leaves in the program, not through a stub that
 * jumps there: of a put of few bytes the stub would be a third. */
#if defined(__has_attribute)
#  if __has_attribute(noplt)
#    define ONESHMEM_DIRECT __attribute__((__noplt__))
#  endif
#endif
#ifndef ONESHMEM_DIRECT
#  define ONESHMEM_DIRECT
#endif
#if !defined(__STDC_NO_COMPLEX__) && defined(__GNUC__)
#  define ONESHMEM_COMPLEX __extension__ /* C++ has _Complex only as an extension */
#elif !defined(__STDC_NO_COMPLEX__) && !defined(__cplusplus)
#  define ONESHMEM_COMPLEX
#endif

@HEADING Types@
/* A team: an ordered set of PEs. */
typedef struct shmem_team_object *shmem_team_t;

/* A context: a stream of communication with an order and a completion of its own. */
typedef struct shmem_ctx_object *shmem_ctx_t;

/* What a new team should be able to do. */
typedef struct {
    int num_contexts; /* contexts that will be made from the team; SHMEM_TEAM_NUM_CONTEXTS */
} shmem_team_config_t;

/* What a session on a context will do. */
typedef struct {
    size_t total_ops; /* operations until the session ends; SHMEM_CTX_SESSION_TOTAL_OPS */
} shmem_ctx_session_config_t;

@HEADING Constants@
@CONSTANTS@
/* By this name Open MPI's programs ask for the version of the specification. */
#define OSHMEM_SPEC_VERSION (SHMEM_MAJOR_VERSION * 10000 + SHMEM_MINOR_VERSION * 100)

#endif /* pshmem.h needs no more. */
#if !defined(ONESHMEM_SHMEM_H) && !defined(ONESHMEM_TYPES_ONLY)
#define ONESHMEM_SHMEM_H

#ifdef __cplusplus
extern "C" {
#endif

@ROUTINES@
@HEADING Deprecated routines@
/* They work, and will go on working; new programs have no use for them. */

@DEPRECATED@
/* As in shmemx.h, under the names that have been proposed for OpenSHMEM. */
void *shmem_partition_malloc(size_t size, int id);
void *shmem_partition_align(size_t alignment, size_t size, int id);
void *shmem_partition_calloc(size_t count, size_t size, int id);
void shmem_partition_free(void *ptr);

/* Bitwise atomics of signed types: the specification has them as int32 and int64, Open MPI under these names. */
#if defined(__GNUC__)
#  define ONESHMEM_STATIC static __inline__ __attribute__((__unused__))
#else
#  define ONESHMEM_STATIC static
#endif
#define ONESHMEM_SIGNED(NAME, TYPE, WORD, OP) \
    ONESHMEM_STATIC void shmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe) \
    { shmem_##WORD##_atomic_##OP(ONESHMEM_CAST(WORD##_t *, dest), value, pe); } \
    ONESHMEM_STATIC void shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) \
    { shmem_ctx_##WORD##_atomic_##OP(ctx, ONESHMEM_CAST(WORD##_t *, dest), value, pe); } \
    ONESHMEM_STATIC TYPE shmem_##NAME##_atomic_fetch_##OP(TYPE *dest, TYPE value, int pe) \
    { return shmem_##WORD##_atomic_fetch_##OP(ONESHMEM_CAST(WORD##_t *, dest), value, pe); } \
    ONESHMEM_STATIC TYPE shmem_ctx_##NAME##_atomic_fetch_##OP(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) \
    { return shmem_ctx_##WORD##_atomic_fetch_##OP(ctx, ONESHMEM_CAST(WORD##_t *, dest), value, pe); }
#define ONESHMEM_SIGNED_OPS(NAME, TYPE, WORD) \
    ONESHMEM_SIGNED(NAME, TYPE, WORD, and) \
    ONESHMEM_SIGNED(NAME, TYPE, WORD, or) \
    ONESHMEM_SIGNED(NAME, TYPE, WORD, xor)
ONESHMEM_SIGNED_OPS(int, int, int32)
ONESHMEM_SIGNED_OPS(long, long, int64)
ONESHMEM_SIGNED_OPS(longlong, long long, int64)

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Routines compiled into the program: see there. */
#if defined(SHMEM_INLINE) && defined(__GNUC__) && defined(__OPTIMIZE__)
#  include "shmem_inline.h"
#endif

@HEADING Type-generic names@
#if defined(__cplusplus)
#  include "shmem_overloads.h"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#  include "shmem_generic.h"
#endif

#ifdef Py_PYTHON_H
#  include "shmem_python.h"
#endif

#endif
