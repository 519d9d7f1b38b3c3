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
 * Generated from interface/routines.txt and interface/constants.txt by `make headers`.
 */
#ifndef ONESHMEM_SHMEM_H
#define ONESHMEM_SHMEM_H

#include <stddef.h> /* size_t, ptrdiff_t */
#include <stdint.h> /* int32_t, ..., SIZE_MAX */

/* What the languages that include this header spell differently. */
#if defined(__cplusplus)
#  define ONESHMEM_NORETURN [[noreturn]]
#  define ONESHMEM_SYMBOL extern "C"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#  define ONESHMEM_NORETURN _Noreturn
#else
#  define ONESHMEM_NORETURN
#endif
#if !defined(__cplusplus)
#  define ONESHMEM_SYMBOL extern
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

/* ---- Types ----------------------------------------------------------------------------------- */

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

/* ---- Constants ------------------------------------------------------------------------------- */

/* The version of the specification that this library implements, and its name. */
#define SHMEM_MAJOR_VERSION            1
#define SHMEM_MINOR_VERSION            6
#define SHMEM_VENDOR_STRING            "oneshmem 0.1.0"
#define SHMEM_MAX_NAME_LEN             64                  /* room that shmem_info_get_name needs */

/* Thread levels, for shmem_init_thread. */
#define SHMEM_THREAD_SINGLE            0                   /* one thread */
#define SHMEM_THREAD_FUNNELED          1                   /* only the main thread calls the library */
#define SHMEM_THREAD_SERIALIZED        2                   /* one thread at a time calls the library */
#define SHMEM_THREAD_MULTIPLE          3                   /* any thread calls at any time */

/* Teams that always exist, and no team. They are symbols for languages that do not read macros. */
ONESHMEM_SYMBOL const shmem_team_t SHMEM_TEAM_INVALID;
ONESHMEM_SYMBOL const shmem_team_t SHMEM_TEAM_WORLD;
ONESHMEM_SYMBOL const shmem_team_t SHMEM_TEAM_SHARED;
#define SHMEM_TEAM_INVALID             ((shmem_team_t)0)   /* no team */
#define SHMEM_TEAM_WORLD               ((shmem_team_t)1)   /* all PEs */
#define SHMEM_TEAM_SHARED              ((shmem_team_t)2)   /* the PEs whose memory shmem_ptr reaches */
#define SHMEM_TEAM_NUM_CONTEXTS        1L                  /* config_mask: the field num_contexts counts */

/* Contexts that always exist, and no context. They are symbols, too. */
ONESHMEM_SYMBOL const shmem_ctx_t SHMEM_CTX_INVALID;
ONESHMEM_SYMBOL const shmem_ctx_t SHMEM_CTX_DEFAULT;
#define SHMEM_CTX_INVALID              ((shmem_ctx_t)0)    /* no context */
#define SHMEM_CTX_DEFAULT              ((shmem_ctx_t)27)   /* of routines without a context argument */

/* Options for shmem_ctx_create. */
#define SHMEM_CTX_SERIALIZED           1L                  /* threads share it, but never at the same time */
#define SHMEM_CTX_PRIVATE              2L                  /* only the thread that makes it uses it */
#define SHMEM_CTX_NOSTORE              4L                  /* its quiet and fence need not cover plain stores */

/* For shmem_ctx_session_start. */
#define SHMEM_CTX_SESSION_TOTAL_OPS    1L                  /* config_mask: the field total_ops counts */
#define SHMEM_CTX_SESSION_BATCH        1L                  /* option: operations may be sent in batches */

/* Hints for shmem_malloc_with_hints. */
#define SHMEM_MALLOC_ATOMICS_REMOTE    1L                  /* the target of atomic operations */
#define SHMEM_MALLOC_SIGNAL_REMOTE     2L                  /* signal objects */

/* How a signal is updated, for shmem_put_signal. */
#define SHMEM_SIGNAL_SET               1                   /* store */
#define SHMEM_SIGNAL_ADD               2                   /* add */

/* Comparisons, for the wait and test routines: 1 for less, 2 for equal, 4 for greater. */
#define SHMEM_CMP_EQ                   2                   /* == */
#define SHMEM_CMP_NE                   5                   /* != */
#define SHMEM_CMP_GT                   4                   /* > */
#define SHMEM_CMP_LE                   3                   /* <= */
#define SHMEM_CMP_LT                   1                   /* < */
#define SHMEM_CMP_GE                   6                   /* >= */

/* Work space of the collectives over active sets: symmetric `long pSync[...]`, every
 * element SHMEM_SYNC_VALUE at first, and `pWrk` for reductions. */
#define SHMEM_SYNC_VALUE               0L                  /* deprecated since 1.5 */
#define SHMEM_SYNC_SIZE                32                  /* long enough for all; deprecated since 1.5 */
#define SHMEM_BARRIER_SYNC_SIZE        16                  /* deprecated since 1.5 */
#define SHMEM_BCAST_SYNC_SIZE          32                  /* deprecated since 1.5 */
#define SHMEM_COLLECT_SYNC_SIZE        32                  /* deprecated since 1.5 */
#define SHMEM_REDUCE_SYNC_SIZE         32                  /* deprecated since 1.5 */
#define SHMEM_ALLTOALL_SYNC_SIZE       32                  /* deprecated since 1.5 */
#define SHMEM_ALLTOALLS_SYNC_SIZE      32                  /* deprecated since 1.5 */
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE  16                  /* deprecated since 1.5 */

/* The same under their old names, deprecated since 1.3. */
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Starting, ending, asking ---------------------------------------------------------------- */

/* Starts the library. Collective over all PEs. May be called again: each call needs
 * its own `shmem_finalize`, and the last of those ends the library. */
void shmem_init(void);

/* Ends the library when it is called as often as the library was started: completes all
 * pending communication on every PE, then releases all teams, contexts and symmetric
 * memory. Earlier calls are a `shmem_barrier_all`, and one too many is ignored. */
void shmem_finalize(void);

/* Ends the whole job at once, whatever the other PEs are doing, with exit status `status`.
 * Any PE may call it; it does not return. */
ONESHMEM_NORETURN void shmem_global_exit(int status);

/* Sets `*initialized` to 1 between the first start of the library and its last
 * `shmem_finalize`, else to 0. May be called at any time. */
void shmem_query_initialized(int *initialized);

/* Returns the number of the calling PE, from 0 to `shmem_n_pes() - 1`. */
int shmem_my_pe(void);

/* Returns the number of PEs of the job. */
int shmem_n_pes(void);

/* Tells whether the calling PE can communicate with PE `pe`: 1 or 0. */
int shmem_pe_accessible(int pe);

/* Tells whether `addr` is a symmetric address of the calling PE that can be reached on PE `pe`: 1
 * or 0. */
int shmem_addr_accessible(const void *addr, int pe);

/* Returns the address at which the calling PE can load and store PE `pe`'s copy of the symmetric
 * object `dest`, or a null pointer. On one node every PE's memory can be reached. The result is not
 * a symmetric address. */
void *shmem_ptr(const void *dest, int pe);

/* Does the same as `shmem_ptr` for PE number `pe` of `team`; returns a null pointer if `team` is
 * `SHMEM_TEAM_INVALID`. */
void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe);

/* Stores the version of the specification that the library implements to `*major` and `*minor`. */
void shmem_info_get_version(int *major, int *minor);

/* Copies `SHMEM_VENDOR_STRING` to `name`, which has room for `SHMEM_MAX_NAME_LEN` characters. */
void shmem_info_get_name(char *name);

/* ---- Threads --------------------------------------------------------------------------------- */

/* Starts the library for a program with threads. `requested` is one of the four
 * `SHMEM_THREAD_` levels, and `*provided` becomes the level that is available. Returns 0,
 * or nonzero if the library cannot be started. */
int shmem_init_thread(int requested, int *provided);

/* Sets `*provided` to the thread level that is available. */
void shmem_query_thread(int *provided);

/* ---- Symmetric memory ------------------------------------------------------------------------ */

/* Allocates `size` bytes of symmetric memory. Like all routines that allocate, it is collective:
 * all PEs make the same calls in the same order, with equal arguments. Returns a null pointer if
 * `size` is 0 or the symmetric heap is exhausted. */
void *shmem_malloc(size_t size);

/* Allocates an array of `count` elements of `size` bytes, all bits zero. Makes the memory's pages at
 * once, which takes less time than at the first touch of each. */
void *shmem_calloc(size_t count, size_t size);

/* Allocates `size` bytes at a multiple of `alignment`, which is a power of two and a
 * multiple of `sizeof(void *)`. Returns a null pointer if it is not a power of two. */
void *shmem_align(size_t alignment, size_t size);

/* Changes the size of the block at `ptr`, which may move. The contents are kept up to the
 * smaller of the two sizes. On failure the result is a null pointer and the block is intact. */
void *shmem_realloc(void *ptr, size_t size);

/* Releases the block at `ptr`; does nothing if `ptr` is a null pointer. */
void shmem_free(void *ptr);

/* Does the same as `shmem_malloc`, with hints on how the memory will be used: 0, or
 * `SHMEM_MALLOC_` flags. */
void *shmem_malloc_with_hints(size_t size, long hints);

/* ---- Teams of PEs ---------------------------------------------------------------------------- */

/* Returns the number of the calling PE in `team`, or -1 if `team` is `SHMEM_TEAM_INVALID`. */
int shmem_team_my_pe(shmem_team_t team);

/* Returns the number of PEs in `team`, or -1 if `team` is `SHMEM_TEAM_INVALID`. */
int shmem_team_n_pes(shmem_team_t team);

/* Writes the fields of `team`'s configuration that `config_mask` selects. Returns 0, or
 * nonzero if `team` is `SHMEM_TEAM_INVALID`. */
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/* Returns the number in `dest_team` of the PE that has number `src_pe` in `src_team`, or -1 if it is
 * not a member of both. */
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/* Makes a team of the PEs `start`, `start + stride`, ... of `parent_team`, `size` of them; a
 * negative stride numbers them in reverse. All PEs of the parent call it with equal
 * arguments; those that are not in the new team get `SHMEM_TEAM_INVALID`. Returns 0, or
 * nonzero on every PE if the team cannot be made. */
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
    const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);

/* Arranges the PEs of `parent_team` in rows of `xrange` and makes a team of each row and of
 * each column: `*xaxis_team` holds the PEs of the caller's row, `*yaxis_team` those of its
 * column. Returns 0, or nonzero on every PE if a team cannot be made. */
int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
    const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
    const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team);

/* Releases a team; all its PEs call it. `SHMEM_TEAM_INVALID` is ignored. */
void shmem_team_destroy(shmem_team_t team);

/* ---- Communication contexts ------------------------------------------------------------------ */

/* Makes a context: a stream of communication that is ordered and completed independently of
 * all others. `options` is 0 or `SHMEM_CTX_` flags. Returns 0, or nonzero with `*ctx` set to
 * `SHMEM_CTX_INVALID`. */
int shmem_ctx_create(long options, shmem_ctx_t *ctx);

/* Makes a context, as `shmem_ctx_create` does; PE numbers given with the context are numbers in
 * `team`. */
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);

/* Completes the context's pending communication and releases it. `SHMEM_CTX_INVALID` is ignored. */
void shmem_ctx_destroy(shmem_ctx_t ctx);

/* Sets `*team` to the team whose PEs `ctx` communicates with. Returns 0, or nonzero with
 * `SHMEM_TEAM_INVALID` if `ctx` is `SHMEM_CTX_INVALID`. */
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/* ---- Sessions on a context ------------------------------------------------------------------- */

/* Announces a series of operations on `ctx`, so that the library may prepare for it. Only a
 * hint: results and order do not change. */
void shmem_ctx_session_start(shmem_ctx_t ctx, long options,
    const shmem_ctx_session_config_t *config, long config_mask);

/* Ends the series that `shmem_ctx_session_start` announced. */
void shmem_ctx_session_stop(shmem_ctx_t ctx);

/* ---- Remote memory access -------------------------------------------------------------------- */

/* Copies `nelems` elements from `source`, any memory of the calling PE, to the symmetric
 * object `dest` on PE `pe`. `source` may be changed when the call returns; the data arrives,
 * at the latest, by the next `shmem_quiet`.
 * Type-generic: shmem_put. */
ONESHMEM_DIRECT void shmem_float_put(float *dest, const float *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_put(double *dest, const double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longdouble_put(long double *dest, const long double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_put(char *dest, const char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_put(signed char *dest, const signed char *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_short_put(short *dest, const short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_put(int *dest, const int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_put(long *dest, const long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_put(long long *dest, const long long *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uchar_put(unsigned char *dest, const unsigned char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_put(unsigned short *dest, const unsigned short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_put(unsigned int *dest, const unsigned int *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ulong_put(unsigned long *dest, const unsigned long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_put(unsigned long long *dest, const unsigned long long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_put(int8_t *dest, const int8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_put(int16_t *dest, const int16_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int32_put(int32_t *dest, const int32_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int64_put(int64_t *dest, const int64_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint8_put(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint16_put(uint16_t *dest, const uint16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_put(uint32_t *dest, const uint32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint64_put(uint64_t *dest, const uint64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_size_put(size_t *dest, const size_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_put(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_float_put(shmem_ctx_t ctx, float *dest, const float *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_put(shmem_ctx_t ctx, double *dest, const double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_put(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_put(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_put(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_put(shmem_ctx_t ctx, short *dest, const short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_put(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_long_put(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_put(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_put(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_put(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_put(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_put(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_put(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_put(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_put(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_put(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_put(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_put(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_put(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_put(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_put(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_put(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_put(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put8(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put16(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put32(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put64(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put128(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_putmem(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_put16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_put32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_put64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_put128(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_putmem(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);

/* Copies `nelems` elements from the symmetric object `source` on PE `pe` to `dest`, any memory
 * of the calling PE. The data is there when the call returns.
 * Type-generic: shmem_get. */
ONESHMEM_DIRECT void shmem_float_get(float *dest, const float *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_get(double *dest, const double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longdouble_get(long double *dest, const long double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_get(char *dest, const char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_get(signed char *dest, const signed char *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_short_get(short *dest, const short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_get(int *dest, const int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_get(long *dest, const long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_get(long long *dest, const long long *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uchar_get(unsigned char *dest, const unsigned char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_get(unsigned short *dest, const unsigned short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_get(unsigned int *dest, const unsigned int *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ulong_get(unsigned long *dest, const unsigned long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_get(unsigned long long *dest, const unsigned long long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_get(int8_t *dest, const int8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_get(int16_t *dest, const int16_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int32_get(int32_t *dest, const int32_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int64_get(int64_t *dest, const int64_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint8_get(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint16_get(uint16_t *dest, const uint16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_get(uint32_t *dest, const uint32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint64_get(uint64_t *dest, const uint64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_size_get(size_t *dest, const size_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_get(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_float_get(shmem_ctx_t ctx, float *dest, const float *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_get(shmem_ctx_t ctx, double *dest, const double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_get(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_get(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_get(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_get(shmem_ctx_t ctx, short *dest, const short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_get(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_long_get(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_get(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_get(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_get(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_get(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_get(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_get(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_get(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_get(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_get(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_get(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_get(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_get(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_get(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_get(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_get(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_get(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get8(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get16(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get32(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get64(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get128(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_getmem(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_get16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_get32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_get64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_get128(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_getmem(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);

/* Stores one value to the symmetric object `dest` on PE `pe`.
 * Type-generic: shmem_p. */
ONESHMEM_DIRECT void shmem_float_p(float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_double_p(double *dest, double value, int pe);
ONESHMEM_DIRECT void shmem_longdouble_p(long double *dest, long double value, int pe);
ONESHMEM_DIRECT void shmem_char_p(char *dest, char value, int pe);
ONESHMEM_DIRECT void shmem_schar_p(signed char *dest, signed char value, int pe);
ONESHMEM_DIRECT void shmem_short_p(short *dest, short value, int pe);
ONESHMEM_DIRECT void shmem_int_p(int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_p(long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_p(long long *dest, long long value, int pe);
ONESHMEM_DIRECT void shmem_uchar_p(unsigned char *dest, unsigned char value, int pe);
ONESHMEM_DIRECT void shmem_ushort_p(unsigned short *dest, unsigned short value, int pe);
ONESHMEM_DIRECT void shmem_uint_p(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_p(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_p(unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int8_p(int8_t *dest, int8_t value, int pe);
ONESHMEM_DIRECT void shmem_int16_p(int16_t *dest, int16_t value, int pe);
ONESHMEM_DIRECT void shmem_int32_p(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_p(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint8_p(uint8_t *dest, uint8_t value, int pe);
ONESHMEM_DIRECT void shmem_uint16_p(uint16_t *dest, uint16_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_p(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_p(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_size_p(size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_p(ptrdiff_t *dest, ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_p(shmem_ctx_t ctx, float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_p(shmem_ctx_t ctx, double *dest, double value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_char_p(shmem_ctx_t ctx, char *dest, char value, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_p(shmem_ctx_t ctx, signed char *dest, signed char value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_short_p(shmem_ctx_t ctx, short *dest, short value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_p(shmem_ctx_t ctx, int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_p(shmem_ctx_t ctx, long long *dest, long long value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_p(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_p(shmem_ctx_t ctx, int8_t *dest, int8_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_p(shmem_ctx_t ctx, int16_t *dest, int16_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_p(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_p(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_p(shmem_ctx_t ctx, uint8_t *dest, uint8_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_p(shmem_ctx_t ctx, uint16_t *dest, uint16_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_p(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_p(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_p(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_p(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* Loads one value from the symmetric object `source` on PE `pe`.
 * Type-generic: shmem_g. */
ONESHMEM_DIRECT float shmem_float_g(const float *source, int pe);
ONESHMEM_DIRECT double shmem_double_g(const double *source, int pe);
ONESHMEM_DIRECT long double shmem_longdouble_g(const long double *source, int pe);
ONESHMEM_DIRECT char shmem_char_g(const char *source, int pe);
ONESHMEM_DIRECT signed char shmem_schar_g(const signed char *source, int pe);
ONESHMEM_DIRECT short shmem_short_g(const short *source, int pe);
ONESHMEM_DIRECT int shmem_int_g(const int *source, int pe);
ONESHMEM_DIRECT long shmem_long_g(const long *source, int pe);
ONESHMEM_DIRECT long long shmem_longlong_g(const long long *source, int pe);
ONESHMEM_DIRECT unsigned char shmem_uchar_g(const unsigned char *source, int pe);
ONESHMEM_DIRECT unsigned short shmem_ushort_g(const unsigned short *source, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_g(const unsigned int *source, int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_g(const unsigned long *source, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_g(const unsigned long long *source, int pe);
ONESHMEM_DIRECT int8_t shmem_int8_g(const int8_t *source, int pe);
ONESHMEM_DIRECT int16_t shmem_int16_g(const int16_t *source, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_g(const int32_t *source, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_g(const int64_t *source, int pe);
ONESHMEM_DIRECT uint8_t shmem_uint8_g(const uint8_t *source, int pe);
ONESHMEM_DIRECT uint16_t shmem_uint16_g(const uint16_t *source, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_g(const uint32_t *source, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_g(const uint64_t *source, int pe);
ONESHMEM_DIRECT size_t shmem_size_g(const size_t *source, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_g(const ptrdiff_t *source, int pe);
ONESHMEM_DIRECT float shmem_ctx_float_g(shmem_ctx_t ctx, const float *source, int pe);
ONESHMEM_DIRECT double shmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe);
ONESHMEM_DIRECT long double shmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source,
    int pe);
ONESHMEM_DIRECT char shmem_ctx_char_g(shmem_ctx_t ctx, const char *source, int pe);
ONESHMEM_DIRECT signed char shmem_ctx_schar_g(shmem_ctx_t ctx, const signed char *source, int pe);
ONESHMEM_DIRECT short shmem_ctx_short_g(shmem_ctx_t ctx, const short *source, int pe);
ONESHMEM_DIRECT int shmem_ctx_int_g(shmem_ctx_t ctx, const int *source, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_g(shmem_ctx_t ctx, const long *source, int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_g(shmem_ctx_t ctx, const long long *source, int pe);
ONESHMEM_DIRECT unsigned char shmem_ctx_uchar_g(shmem_ctx_t ctx, const unsigned char *source,
    int pe);
ONESHMEM_DIRECT unsigned short shmem_ctx_ushort_g(shmem_ctx_t ctx, const unsigned short *source,
    int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_g(shmem_ctx_t ctx, const unsigned int *source, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_g(shmem_ctx_t ctx, const unsigned long *source,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_g(shmem_ctx_t ctx,
    const unsigned long long *source, int pe);
ONESHMEM_DIRECT int8_t shmem_ctx_int8_g(shmem_ctx_t ctx, const int8_t *source, int pe);
ONESHMEM_DIRECT int16_t shmem_ctx_int16_g(shmem_ctx_t ctx, const int16_t *source, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_g(shmem_ctx_t ctx, const int32_t *source, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_g(shmem_ctx_t ctx, const int64_t *source, int pe);
ONESHMEM_DIRECT uint8_t shmem_ctx_uint8_g(shmem_ctx_t ctx, const uint8_t *source, int pe);
ONESHMEM_DIRECT uint16_t shmem_ctx_uint16_g(shmem_ctx_t ctx, const uint16_t *source, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_g(shmem_ctx_t ctx, const uint32_t *source, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_g(shmem_ctx_t ctx, const uint64_t *source, int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_g(shmem_ctx_t ctx, const size_t *source, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_g(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);

/* Strided put: element `i * sst` of `source` goes to element `i * dst` of `dest` on PE `pe`, for
 * `i` from 0 to `nelems - 1`. Strides are in elements and at least 1.
 * Type-generic: shmem_iput. */
ONESHMEM_DIRECT void shmem_float_iput(float *dest, const float *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_iput(double *dest, const double *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longdouble_iput(long double *dest, const long double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_iput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_iput(signed char *dest, const signed char *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_short_iput(short *dest, const short *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_iput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_iput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_iput(long long *dest, const long long *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uchar_iput(unsigned char *dest, const unsigned char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_iput(unsigned short *dest, const unsigned short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_iput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulong_iput(unsigned long *dest, const unsigned long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_iput(unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_iput(int8_t *dest, const int8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_iput(int16_t *dest, const int16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int32_iput(int32_t *dest, const int32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int64_iput(int64_t *dest, const int64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint8_iput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint16_iput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint32_iput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint64_iput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_size_iput(size_t *dest, const size_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_iput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_iput(shmem_ctx_t ctx, float *dest, const float *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_iput(shmem_ctx_t ctx, double *dest, const double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_iput(shmem_ctx_t ctx, long double *dest,
    const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_iput(shmem_ctx_t ctx, char *dest, const char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_iput(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_iput(shmem_ctx_t ctx, short *dest, const short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_iput(shmem_ctx_t ctx, int *dest, const int *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_iput(shmem_ctx_t ctx, long *dest, const long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_iput(shmem_ctx_t ctx, long long *dest,
    const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_iput(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_iput(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_iput(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_iput(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_iput(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_iput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_iput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_iput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_iput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_iput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_iput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_iput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_iput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_iput(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_iput(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iput8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iput16(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iput32(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iput64(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iput128(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* Strided get: element `i * sst` of `source` on PE `pe` goes to element `i * dst` of `dest`, for
 * `i` from 0 to `nelems - 1`. Strides are in elements and at least 1.
 * Type-generic: shmem_iget. */
ONESHMEM_DIRECT void shmem_float_iget(float *dest, const float *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_iget(double *dest, const double *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longdouble_iget(long double *dest, const long double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_iget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_iget(signed char *dest, const signed char *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_short_iget(short *dest, const short *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_iget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_iget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_iget(long long *dest, const long long *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uchar_iget(unsigned char *dest, const unsigned char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_iget(unsigned short *dest, const unsigned short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_iget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulong_iget(unsigned long *dest, const unsigned long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_iget(unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_iget(int8_t *dest, const int8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_iget(int16_t *dest, const int16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int32_iget(int32_t *dest, const int32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int64_iget(int64_t *dest, const int64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint8_iget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint16_iget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint32_iget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint64_iget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_size_iget(size_t *dest, const size_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_iget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_iget(shmem_ctx_t ctx, float *dest, const float *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_iget(shmem_ctx_t ctx, double *dest, const double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_iget(shmem_ctx_t ctx, long double *dest,
    const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_iget(shmem_ctx_t ctx, char *dest, const char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_iget(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_iget(shmem_ctx_t ctx, short *dest, const short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_iget(shmem_ctx_t ctx, int *dest, const int *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_iget(shmem_ctx_t ctx, long *dest, const long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_iget(shmem_ctx_t ctx, long long *dest,
    const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_iget(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_iget(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_iget(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_iget(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_iget(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_iget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_iget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_iget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_iget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_iget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_iget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_iget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_iget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_iget(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_iget(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_iget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iget8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iget16(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iget32(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iget64(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_iget128(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* Strided put of blocks: as `shmem_iput` with `nblocks` blocks of `bsize` elements. Strides are
 * the distances between the starts of blocks, in elements, and at least `bsize`.
 * Type-generic: shmem_ibput. */
ONESHMEM_DIRECT void shmem_float_ibput(float *dest, const float *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_double_ibput(double *dest, const double *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_longdouble_ibput(long double *dest, const long double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_char_ibput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_schar_ibput(signed char *dest, const signed char *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_short_ibput(short *dest, const short *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int_ibput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_long_ibput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_longlong_ibput(long long *dest, const long long *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uchar_ibput(unsigned char *dest, const unsigned char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ushort_ibput(unsigned short *dest, const unsigned short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint_ibput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ulong_ibput(unsigned long *dest, const unsigned long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_ibput(unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_int8_ibput(int8_t *dest, const int8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int16_ibput(int16_t *dest, const int16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int32_ibput(int32_t *dest, const int32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int64_ibput(int64_t *dest, const int64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint8_ibput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint16_ibput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint32_ibput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint64_ibput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_size_ibput(size_t *dest, const size_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_ibput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_ibput(shmem_ctx_t ctx, float *dest, const float *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_ibput(shmem_ctx_t ctx, double *dest, const double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_ibput(shmem_ctx_t ctx, long double *dest,
    const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_ibput(shmem_ctx_t ctx, char *dest, const char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_ibput(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_ibput(shmem_ctx_t ctx, short *dest, const short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_ibput(shmem_ctx_t ctx, int *dest, const int *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_ibput(shmem_ctx_t ctx, long *dest, const long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_ibput(shmem_ctx_t ctx, long long *dest,
    const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_ibput(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_ibput(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_ibput(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_ibput(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_ibput(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_ibput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_ibput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_ibput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_ibput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_ibput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_ibput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_ibput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_ibput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_ibput(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_ibput(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibput8(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibput16(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibput32(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibput64(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibput128(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* Strided get of blocks: as `shmem_iget` with `nblocks` blocks of `bsize` elements. Strides are
 * the distances between the starts of blocks, in elements, and at least `bsize`.
 * Type-generic: shmem_ibget. */
ONESHMEM_DIRECT void shmem_float_ibget(float *dest, const float *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_double_ibget(double *dest, const double *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_longdouble_ibget(long double *dest, const long double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_char_ibget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_schar_ibget(signed char *dest, const signed char *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_short_ibget(short *dest, const short *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int_ibget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_long_ibget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_longlong_ibget(long long *dest, const long long *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uchar_ibget(unsigned char *dest, const unsigned char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ushort_ibget(unsigned short *dest, const unsigned short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint_ibget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ulong_ibget(unsigned long *dest, const unsigned long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_ibget(unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_int8_ibget(int8_t *dest, const int8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int16_ibget(int16_t *dest, const int16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int32_ibget(int32_t *dest, const int32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_int64_ibget(int64_t *dest, const int64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint8_ibget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint16_ibget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint32_ibget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_uint64_ibget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_size_ibget(size_t *dest, const size_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_ibget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_ibget(shmem_ctx_t ctx, float *dest, const float *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_ibget(shmem_ctx_t ctx, double *dest, const double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_ibget(shmem_ctx_t ctx, long double *dest,
    const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_ibget(shmem_ctx_t ctx, char *dest, const char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_ibget(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_ibget(shmem_ctx_t ctx, short *dest, const short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_ibget(shmem_ctx_t ctx, int *dest, const int *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_ibget(shmem_ctx_t ctx, long *dest, const long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_ibget(shmem_ctx_t ctx, long long *dest,
    const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_ibget(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_ibget(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_ibget(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_ibget(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_ibget(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_ibget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_ibget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_ibget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_ibget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_ibget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_ibget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_ibget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_ibget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_ibget(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_ibget(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ibget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
    size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibget8(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibget16(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibget32(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibget64(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
ONESHMEM_DIRECT void shmem_ctx_ibget128(shmem_ctx_t ctx, void *dest, const void *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* ---- Nonblocking remote memory access -------------------------------------------------------- */

/* Does the same as `shmem_put`, but `source` must stay unchanged until `shmem_quiet`.
 * Type-generic: shmem_put_nbi. */
ONESHMEM_DIRECT void shmem_float_put_nbi(float *dest, const float *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_put_nbi(double *dest, const double *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_longdouble_put_nbi(long double *dest, const long double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_put_nbi(char *dest, const char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_put_nbi(signed char *dest, const signed char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_short_put_nbi(short *dest, const short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_put_nbi(int *dest, const int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_put_nbi(long *dest, const long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_put_nbi(long long *dest, const long long *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uchar_put_nbi(unsigned char *dest, const unsigned char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_put_nbi(unsigned short *dest, const unsigned short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_put_nbi(unsigned int *dest, const unsigned int *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulong_put_nbi(unsigned long *dest, const unsigned long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_put_nbi(unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_put_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_put_nbi(int16_t *dest, const int16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_int32_put_nbi(int32_t *dest, const int32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_int64_put_nbi(int64_t *dest, const int64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint8_put_nbi(uint8_t *dest, const uint8_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint16_put_nbi(uint16_t *dest, const uint16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_put_nbi(uint32_t *dest, const uint32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint64_put_nbi(uint64_t *dest, const uint64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_size_put_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_put_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_float_put_nbi(shmem_ctx_t ctx, float *dest, const float *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_put_nbi(shmem_ctx_t ctx, double *dest, const double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_put_nbi(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_put_nbi(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_put_nbi(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_put_nbi(shmem_ctx_t ctx, short *dest, const short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_put_nbi(shmem_ctx_t ctx, int *dest, const int *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_put_nbi(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_put_nbi(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_put_nbi(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_put_nbi(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_put_nbi(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_put_nbi(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_put_nbi(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_put_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_put_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_put_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_put_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_put_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_put_nbi(shmem_ctx_t ctx, uint16_t *dest,
    const uint16_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_put_nbi(shmem_ctx_t ctx, uint32_t *dest,
    const uint32_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_put_nbi(shmem_ctx_t ctx, uint64_t *dest,
    const uint64_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_put_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_put_nbi(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put8_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put16_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put32_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put64_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_put128_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put8_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put16_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put32_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put64_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_put128_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_putmem_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);

/* Does the same as `shmem_get`, but the data is in `dest` only after `shmem_quiet`.
 * Type-generic: shmem_get_nbi. */
ONESHMEM_DIRECT void shmem_float_get_nbi(float *dest, const float *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_double_get_nbi(double *dest, const double *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_longdouble_get_nbi(long double *dest, const long double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_char_get_nbi(char *dest, const char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_schar_get_nbi(signed char *dest, const signed char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_short_get_nbi(short *dest, const short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int_get_nbi(int *dest, const int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_long_get_nbi(long *dest, const long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_longlong_get_nbi(long long *dest, const long long *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uchar_get_nbi(unsigned char *dest, const unsigned char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ushort_get_nbi(unsigned short *dest, const unsigned short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_uint_get_nbi(unsigned int *dest, const unsigned int *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulong_get_nbi(unsigned long *dest, const unsigned long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_get_nbi(unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int8_get_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_int16_get_nbi(int16_t *dest, const int16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_int32_get_nbi(int32_t *dest, const int32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_int64_get_nbi(int64_t *dest, const int64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint8_get_nbi(uint8_t *dest, const uint8_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint16_get_nbi(uint16_t *dest, const uint16_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_get_nbi(uint32_t *dest, const uint32_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_uint64_get_nbi(uint64_t *dest, const uint64_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_size_get_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_get_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_float_get_nbi(shmem_ctx_t ctx, float *dest, const float *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_get_nbi(shmem_ctx_t ctx, double *dest, const double *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_get_nbi(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_char_get_nbi(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_get_nbi(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_short_get_nbi(shmem_ctx_t ctx, short *dest, const short *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_get_nbi(shmem_ctx_t ctx, int *dest, const int *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_get_nbi(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_get_nbi(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_get_nbi(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_get_nbi(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_get_nbi(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_get_nbi(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_get_nbi(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_get_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_get_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_get_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_get_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_get_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_get_nbi(shmem_ctx_t ctx, uint16_t *dest,
    const uint16_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_get_nbi(shmem_ctx_t ctx, uint32_t *dest,
    const uint32_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_get_nbi(shmem_ctx_t ctx, uint64_t *dest,
    const uint64_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_get_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_get_nbi(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get8_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get16_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get32_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get64_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_get128_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get8_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get16_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get32_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get64_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_get128_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);
ONESHMEM_DIRECT void shmem_ctx_getmem_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, int pe);

/* ---- Atomic operations ----------------------------------------------------------------------- */

/* Atomically loads `source` on PE `pe`. Atomic operations exclude one another, of all PEs and
 * threads, when they use the same type; they do not exclude puts, gets, loads and stores.
 * Type-generic: shmem_atomic_fetch. */
ONESHMEM_DIRECT float shmem_float_atomic_fetch(const float *source, int pe);
ONESHMEM_DIRECT double shmem_double_atomic_fetch(const double *source, int pe);
ONESHMEM_DIRECT int shmem_int_atomic_fetch(const int *source, int pe);
ONESHMEM_DIRECT long shmem_long_atomic_fetch(const long *source, int pe);
ONESHMEM_DIRECT long long shmem_longlong_atomic_fetch(const long long *source, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch(const unsigned int *source, int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch(const unsigned long *source, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch(const unsigned long long *source,
    int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch(const int32_t *source, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch(const int64_t *source, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch(const uint32_t *source, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch(const uint64_t *source, int pe);
ONESHMEM_DIRECT size_t shmem_size_atomic_fetch(const size_t *source, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch(const ptrdiff_t *source, int pe);
ONESHMEM_DIRECT float shmem_ctx_float_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe);
ONESHMEM_DIRECT double shmem_ctx_double_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe);
ONESHMEM_DIRECT int shmem_ctx_int_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_atomic_fetch(shmem_ctx_t ctx, const long long *source,
    int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch(shmem_ctx_t ctx,
    const unsigned int *source, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch(shmem_ctx_t ctx,
    const unsigned long *source, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch(shmem_ctx_t ctx,
    const unsigned long long *source, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch(shmem_ctx_t ctx, const int32_t *source,
    int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch(shmem_ctx_t ctx, const int64_t *source,
    int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch(shmem_ctx_t ctx, const uint32_t *source,
    int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch(shmem_ctx_t ctx, const uint64_t *source,
    int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_atomic_fetch(shmem_ctx_t ctx, const size_t *source, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch(shmem_ctx_t ctx, const ptrdiff_t *source,
    int pe);

/* Atomically stores `value` to `dest` on PE `pe`.
 * Type-generic: shmem_atomic_set. */
ONESHMEM_DIRECT void shmem_float_atomic_set(float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_double_atomic_set(double *dest, double value, int pe);
ONESHMEM_DIRECT void shmem_int_atomic_set(int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_set(long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_set(long long *dest, long long value, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_set(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_set(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_set(unsigned long long *dest, unsigned long long value,
    int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_set(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_set(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_set(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_set(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_set(size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_set(ptrdiff_t *dest, ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_atomic_set(shmem_ctx_t ctx, double *dest, double value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_set(shmem_ctx_t ctx, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_set(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_set(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_set(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_set(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_set(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_set(shmem_ctx_t ctx, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_set(shmem_ctx_t ctx, uint64_t *dest, uint64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_set(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_set(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value,
    int pe);

/* Atomically stores `value` to `dest` on PE `pe` if it holds `cond`; returns what it held before.
 * Type-generic: shmem_atomic_compare_swap. */
ONESHMEM_DIRECT int shmem_int_atomic_compare_swap(int *dest, int cond, int value, int pe);
ONESHMEM_DIRECT long shmem_long_atomic_compare_swap(long *dest, long cond, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_atomic_compare_swap(long long *dest, long long cond,
    long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_compare_swap(unsigned long *dest,
    unsigned long cond, unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_compare_swap(unsigned long long *dest,
    unsigned long long cond, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_compare_swap(int32_t *dest, int32_t cond, int32_t value,
    int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_compare_swap(int64_t *dest, int64_t cond, int64_t value,
    int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_compare_swap(uint64_t *dest, uint64_t cond,
    uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_size_atomic_compare_swap(size_t *dest, size_t cond, size_t value,
    int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_atomic_compare_swap(ptrdiff_t *dest, ptrdiff_t cond,
    ptrdiff_t value, int pe);
ONESHMEM_DIRECT int shmem_ctx_int_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond,
    int value, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond,
    long value, int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_atomic_compare_swap(shmem_ctx_t ctx, long long *dest,
    long long cond, long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int cond, unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_compare_swap(shmem_ctx_t ctx,
    unsigned long *dest, unsigned long cond, unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_compare_swap(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_compare_swap(shmem_ctx_t ctx, int32_t *dest,
    int32_t cond, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_compare_swap(shmem_ctx_t ctx, int64_t *dest,
    int64_t cond, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_compare_swap(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t cond, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_compare_swap(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t cond, uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_atomic_compare_swap(shmem_ctx_t ctx, size_t *dest,
    size_t cond, size_t value, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_compare_swap(shmem_ctx_t ctx, ptrdiff_t *dest,
    ptrdiff_t cond, ptrdiff_t value, int pe);

/* Atomically stores `value` to `dest` on PE `pe`; returns what it held before.
 * Type-generic: shmem_atomic_swap. */
ONESHMEM_DIRECT float shmem_float_atomic_swap(float *dest, float value, int pe);
ONESHMEM_DIRECT double shmem_double_atomic_swap(double *dest, double value, int pe);
ONESHMEM_DIRECT int shmem_int_atomic_swap(int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_long_atomic_swap(long *dest, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_atomic_swap(long long *dest, long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_swap(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_swap(unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_swap(unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_swap(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_swap(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_swap(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_size_atomic_swap(size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_atomic_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);
ONESHMEM_DIRECT float shmem_ctx_float_atomic_swap(shmem_ctx_t ctx, float *dest, float value,
    int pe);
ONESHMEM_DIRECT double shmem_ctx_double_atomic_swap(shmem_ctx_t ctx, double *dest, double value,
    int pe);
ONESHMEM_DIRECT int shmem_ctx_int_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_atomic_swap(shmem_ctx_t ctx, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_swap(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_swap(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_swap(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_swap(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_swap(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_swap(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_swap(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_atomic_swap(shmem_ctx_t ctx, size_t *dest, size_t value,
    int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_swap(shmem_ctx_t ctx, ptrdiff_t *dest,
    ptrdiff_t value, int pe);

/* Atomically adds 1 to `dest` on PE `pe`; returns what it held before.
 * Type-generic: shmem_atomic_fetch_inc. */
ONESHMEM_DIRECT int shmem_int_atomic_fetch_inc(int *dest, int pe);
ONESHMEM_DIRECT long shmem_long_atomic_fetch_inc(long *dest, int pe);
ONESHMEM_DIRECT long long shmem_longlong_atomic_fetch_inc(long long *dest, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch_inc(unsigned int *dest, int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch_inc(unsigned long *dest, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_inc(unsigned long long *dest,
    int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch_inc(int32_t *dest, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch_inc(int64_t *dest, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch_inc(uint32_t *dest, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch_inc(uint64_t *dest, int pe);
ONESHMEM_DIRECT size_t shmem_size_atomic_fetch_inc(size_t *dest, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch_inc(ptrdiff_t *dest, int pe);
ONESHMEM_DIRECT int shmem_ctx_int_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest,
    int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest,
    int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_inc(shmem_ctx_t ctx,
    unsigned long long *dest, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_atomic_fetch_inc(shmem_ctx_t ctx, size_t *dest, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_inc(shmem_ctx_t ctx, ptrdiff_t *dest,
    int pe);

/* Atomically adds 1 to `dest` on PE `pe`.
 * Type-generic: shmem_atomic_inc. */
ONESHMEM_DIRECT void shmem_int_atomic_inc(int *dest, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_inc(long *dest, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_inc(long long *dest, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_inc(unsigned int *dest, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_inc(unsigned long *dest, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_inc(unsigned long long *dest, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_inc(int32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_inc(int64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_inc(uint32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_inc(uint64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_inc(size_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_inc(ptrdiff_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_inc(shmem_ctx_t ctx, int *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_inc(shmem_ctx_t ctx, long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_inc(shmem_ctx_t ctx, size_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);

/* Atomically adds `value` to `dest` on PE `pe`; returns what it held before. Sums wrap around.
 * Type-generic: shmem_atomic_fetch_add. */
ONESHMEM_DIRECT int shmem_int_atomic_fetch_add(int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_long_atomic_fetch_add(long *dest, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_atomic_fetch_add(long long *dest, long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch_add(unsigned int *dest, unsigned int value,
    int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch_add(unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_add(unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch_add(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch_add(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch_add(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch_add(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_size_atomic_fetch_add(size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
ONESHMEM_DIRECT int shmem_ctx_int_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value,
    int pe);
ONESHMEM_DIRECT long long shmem_ctx_longlong_atomic_fetch_add(shmem_ctx_t ctx, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_add(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch_add(shmem_ctx_t ctx, int32_t *dest,
    int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch_add(shmem_ctx_t ctx, int64_t *dest,
    int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_add(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_add(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT size_t shmem_ctx_size_atomic_fetch_add(shmem_ctx_t ctx, size_t *dest, size_t value,
    int pe);
ONESHMEM_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_add(shmem_ctx_t ctx, ptrdiff_t *dest,
    ptrdiff_t value, int pe);

/* Atomically adds `value` to `dest` on PE `pe`. Sums wrap around.
 * Type-generic: shmem_atomic_add. */
ONESHMEM_DIRECT void shmem_int_atomic_add(int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_add(long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_add(long long *dest, long long value, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_add(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_add(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_add(unsigned long long *dest, unsigned long long value,
    int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_add(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_add(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_add(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_add(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_add(size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_add(shmem_ctx_t ctx, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_add(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_add(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_add(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_add(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value,
    int pe);

/* Atomically clears the bits of `dest` on PE `pe` that `value` does not have; returns what it
 * held before.
 * Type-generic: shmem_atomic_fetch_and. */
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch_and(unsigned int *dest, unsigned int value,
    int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch_and(unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_and(unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch_and(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch_and(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch_and(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch_and(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_and(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest,
    int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest,
    int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_and(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_and(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t value, int pe);

/* Atomically clears the bits of `dest` on PE `pe` that `value` does not have.
 * Type-generic: shmem_atomic_and. */
ONESHMEM_DIRECT void shmem_uint_atomic_and(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_and(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_and(unsigned long long *dest, unsigned long long value,
    int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_and(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_and(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_and(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_and(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_and(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_and(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_and(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value,
    int pe);

/* Atomically sets the bits of `dest` on PE `pe` that `value` has; returns what it held before.
 * Type-generic: shmem_atomic_fetch_or. */
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch_or(unsigned int *dest, unsigned int value,
    int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch_or(unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_or(unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch_or(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch_or(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch_or(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_or(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest,
    int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest,
    int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_or(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_or(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t value, int pe);

/* Atomically sets the bits of `dest` on PE `pe` that `value` has.
 * Type-generic: shmem_atomic_or. */
ONESHMEM_DIRECT void shmem_uint_atomic_or(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_or(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_or(unsigned long long *dest, unsigned long long value,
    int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_or(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_or(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_or(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_or(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_or(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_or(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value,
    int pe);

/* Atomically flips the bits of `dest` on PE `pe` that `value` has; returns what it held before.
 * Type-generic: shmem_atomic_fetch_xor. */
ONESHMEM_DIRECT unsigned int shmem_uint_atomic_fetch_xor(unsigned int *dest, unsigned int value,
    int pe);
ONESHMEM_DIRECT unsigned long shmem_ulong_atomic_fetch_xor(unsigned long *dest, unsigned long value,
    int pe);
ONESHMEM_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_xor(unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_int32_atomic_fetch_xor(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_int64_atomic_fetch_xor(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_uint32_atomic_fetch_xor(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_uint64_atomic_fetch_xor(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT int32_t shmem_ctx_int32_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest,
    int32_t value, int pe);
ONESHMEM_DIRECT int64_t shmem_ctx_int64_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest,
    int64_t value, int pe);
ONESHMEM_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_xor(shmem_ctx_t ctx, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_xor(shmem_ctx_t ctx, uint64_t *dest,
    uint64_t value, int pe);

/* Atomically flips the bits of `dest` on PE `pe` that `value` has.
 * Type-generic: shmem_atomic_xor. */
ONESHMEM_DIRECT void shmem_uint_atomic_xor(unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_xor(unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_xor(unsigned long long *dest, unsigned long long value,
    int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_xor(int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_xor(int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_xor(uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_xor(uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_xor(shmem_ctx_t ctx, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_xor(shmem_ctx_t ctx, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value,
    int pe);

/* ---- Nonblocking atomic operations ----------------------------------------------------------- */

/* Does the same as `shmem_atomic_fetch`; the value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_nbi. */
ONESHMEM_DIRECT void shmem_float_atomic_fetch_nbi(float *fetch, const float *source, int pe);
ONESHMEM_DIRECT void shmem_double_atomic_fetch_nbi(double *fetch, const double *source, int pe);
ONESHMEM_DIRECT void shmem_int_atomic_fetch_nbi(int *fetch, const int *source, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_fetch_nbi(long *fetch, const long *source, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_fetch_nbi(long long *fetch, const long long *source,
    int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_nbi(unsigned int *fetch, const unsigned int *source,
    int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_nbi(unsigned long *fetch, const unsigned long *source,
    int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_nbi(unsigned long long *fetch,
    const unsigned long long *source, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_nbi(int32_t *fetch, const int32_t *source, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_nbi(int64_t *fetch, const int64_t *source, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_nbi(uint32_t *fetch, const uint32_t *source, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_nbi(uint64_t *fetch, const uint64_t *source, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_fetch_nbi(size_t *fetch, const size_t *source, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_fetch_nbi(ptrdiff_t *fetch, const ptrdiff_t *source,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_float_atomic_fetch_nbi(shmem_ctx_t ctx, float *fetch,
    const float *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_atomic_fetch_nbi(shmem_ctx_t ctx, double *fetch,
    const double *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_fetch_nbi(shmem_ctx_t ctx, int *fetch, const int *source,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_fetch_nbi(shmem_ctx_t ctx, long *fetch,
    const long *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_fetch_nbi(shmem_ctx_t ctx, long long *fetch,
    const long long *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    const unsigned int *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    const unsigned long *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, const unsigned long long *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_nbi(shmem_ctx_t ctx, int32_t *fetch,
    const int32_t *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_nbi(shmem_ctx_t ctx, int64_t *fetch,
    const int64_t *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    const uint32_t *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    const uint64_t *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_fetch_nbi(shmem_ctx_t ctx, size_t *fetch,
    const size_t *source, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_fetch_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch,
    const ptrdiff_t *source, int pe);

/* Does the same as `shmem_atomic_compare_swap`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_compare_swap_nbi. */
ONESHMEM_DIRECT void shmem_int_atomic_compare_swap_nbi(int *fetch, int *dest, int cond, int value,
    int pe);
ONESHMEM_DIRECT void shmem_long_atomic_compare_swap_nbi(long *fetch, long *dest, long cond,
    long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_compare_swap_nbi(long long *fetch, long long *dest,
    long long cond, long long value, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_compare_swap_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int cond, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_compare_swap_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long cond, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_compare_swap_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_compare_swap_nbi(int32_t *fetch, int32_t *dest,
    int32_t cond, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_compare_swap_nbi(int64_t *fetch, int64_t *dest,
    int64_t cond, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_compare_swap_nbi(uint32_t *fetch, uint32_t *dest,
    uint32_t cond, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_compare_swap_nbi(uint64_t *fetch, uint64_t *dest,
    uint64_t cond, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_compare_swap_nbi(size_t *fetch, size_t *dest, size_t cond,
    size_t value, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_compare_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest,
    ptrdiff_t cond, ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_compare_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest,
    int cond, int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_compare_swap_nbi(shmem_ctx_t ctx, long *fetch,
    long *dest, long cond, long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_compare_swap_nbi(shmem_ctx_t ctx, long long *fetch,
    long long *dest, long long cond, long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int cond, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long cond, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_compare_swap_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, unsigned long long cond,
    unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_compare_swap_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int32_t cond, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_compare_swap_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int64_t cond, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t cond, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t cond, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_compare_swap_nbi(shmem_ctx_t ctx, size_t *fetch,
    size_t *dest, size_t cond, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_compare_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch,
    ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);

/* Does the same as `shmem_atomic_swap`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_swap_nbi. */
ONESHMEM_DIRECT void shmem_float_atomic_swap_nbi(float *fetch, float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_double_atomic_swap_nbi(double *fetch, double *dest, double value,
    int pe);
ONESHMEM_DIRECT void shmem_int_atomic_swap_nbi(int *fetch, int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_swap_nbi(long *fetch, long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_swap_nbi(long long *fetch, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_swap_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_swap_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_swap_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_swap_nbi(int32_t *fetch, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_swap_nbi(int64_t *fetch, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_swap_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_swap_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_size_atomic_swap_nbi(size_t *fetch, size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest,
    ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_atomic_swap_nbi(shmem_ctx_t ctx, float *fetch, float *dest,
    float value, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_atomic_swap_nbi(shmem_ctx_t ctx, double *fetch, double *dest,
    double value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest,
    int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest,
    long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_swap_nbi(shmem_ctx_t ctx, long long *fetch,
    long long *dest, long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_swap_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest,
    int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_swap_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest,
    int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_swap_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest,
    size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch,
    ptrdiff_t *dest, ptrdiff_t value, int pe);

/* Does the same as `shmem_atomic_fetch_inc`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_inc_nbi. */
ONESHMEM_DIRECT void shmem_int_atomic_fetch_inc_nbi(int *fetch, int *dest, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_fetch_inc_nbi(long *fetch, long *dest, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_fetch_inc_nbi(long long *fetch, long long *dest, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_inc_nbi(unsigned int *fetch, unsigned int *dest,
    int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_inc_nbi(unsigned long *fetch, unsigned long *dest,
    int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_inc_nbi(unsigned long long *fetch,
    unsigned long long *dest, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_inc_nbi(int32_t *fetch, int32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_inc_nbi(int64_t *fetch, int64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_inc_nbi(uint32_t *fetch, uint32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_inc_nbi(uint64_t *fetch, uint64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_fetch_inc_nbi(size_t *fetch, size_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_fetch_inc_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int *fetch, int *dest,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long *fetch, long *dest,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long long *fetch,
    long long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_inc_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_fetch_inc_nbi(shmem_ctx_t ctx, size_t *fetch,
    size_t *dest, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_fetch_inc_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch,
    ptrdiff_t *dest, int pe);

/* Does the same as `shmem_atomic_fetch_add`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_add_nbi. */
ONESHMEM_DIRECT void shmem_int_atomic_fetch_add_nbi(int *fetch, int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_atomic_fetch_add_nbi(long *fetch, long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_atomic_fetch_add_nbi(long long *fetch, long long *dest,
    long long value, int pe);
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_add_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_add_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_add_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_add_nbi(int32_t *fetch, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_add_nbi(int64_t *fetch, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_add_nbi(uint32_t *fetch, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_add_nbi(uint64_t *fetch, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_size_atomic_fetch_add_nbi(size_t *fetch, size_t *dest, size_t value,
    int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_atomic_fetch_add_nbi(ptrdiff_t *fetch, ptrdiff_t *dest,
    ptrdiff_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_atomic_fetch_add_nbi(shmem_ctx_t ctx, int *fetch, int *dest,
    int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_atomic_fetch_add_nbi(shmem_ctx_t ctx, long *fetch, long *dest,
    long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_atomic_fetch_add_nbi(shmem_ctx_t ctx, long long *fetch,
    long long *dest, long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_add_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_add_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_add_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_atomic_fetch_add_nbi(shmem_ctx_t ctx, size_t *fetch,
    size_t *dest, size_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_atomic_fetch_add_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch,
    ptrdiff_t *dest, ptrdiff_t value, int pe);

/* Does the same as `shmem_atomic_fetch_and`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_and_nbi. */
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_and_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_and_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_and_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_and_nbi(int32_t *fetch, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_and_nbi(int64_t *fetch, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_and_nbi(uint32_t *fetch, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_and_nbi(uint64_t *fetch, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_and_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_and_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_and_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t value, int pe);

/* Does the same as `shmem_atomic_fetch_or`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_or_nbi. */
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_or_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_or_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_or_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_or_nbi(int32_t *fetch, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_or_nbi(int64_t *fetch, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_or_nbi(uint32_t *fetch, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_or_nbi(uint64_t *fetch, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_or_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_or_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_or_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t value, int pe);

/* Does the same as `shmem_atomic_fetch_xor`; the old value is in `*fetch` after `shmem_quiet`.
 * Type-generic: shmem_atomic_fetch_xor_nbi. */
ONESHMEM_DIRECT void shmem_uint_atomic_fetch_xor_nbi(unsigned int *fetch, unsigned int *dest,
    unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ulong_atomic_fetch_xor_nbi(unsigned long *fetch, unsigned long *dest,
    unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_atomic_fetch_xor_nbi(unsigned long long *fetch,
    unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_int32_atomic_fetch_xor_nbi(int32_t *fetch, int32_t *dest, int32_t value,
    int pe);
ONESHMEM_DIRECT void shmem_int64_atomic_fetch_xor_nbi(int64_t *fetch, int64_t *dest, int64_t value,
    int pe);
ONESHMEM_DIRECT void shmem_uint32_atomic_fetch_xor_nbi(uint32_t *fetch, uint32_t *dest,
    uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_uint64_atomic_fetch_xor_nbi(uint64_t *fetch, uint64_t *dest,
    uint64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned int *fetch,
    unsigned int *dest, unsigned int value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long *fetch,
    unsigned long *dest, unsigned long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_atomic_fetch_xor_nbi(shmem_ctx_t ctx,
    unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int32_t *fetch,
    int32_t *dest, int32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int64_t *fetch,
    int64_t *dest, int64_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint32_t *fetch,
    uint32_t *dest, uint32_t value, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint64_t *fetch,
    uint64_t *dest, uint64_t value, int pe);

/* ---- Signals --------------------------------------------------------------------------------- */

/* Puts, then updates the signal object `sig_addr` on PE `pe` with `signal`: `sig_op` is
 * `SHMEM_SIGNAL_SET` or `SHMEM_SIGNAL_ADD`. A PE that sees the signal also sees the data of this
 * call.
 * Type-generic: shmem_put_signal. */
ONESHMEM_DIRECT void shmem_float_put_signal(float *dest, const float *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_double_put_signal(double *dest, const double *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_longdouble_put_signal(long double *dest, const long double *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_char_put_signal(char *dest, const char *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_schar_put_signal(signed char *dest, const signed char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_short_put_signal(short *dest, const short *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int_put_signal(int *dest, const int *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_long_put_signal(long *dest, const long *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_longlong_put_signal(long long *dest, const long long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uchar_put_signal(unsigned char *dest, const unsigned char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ushort_put_signal(unsigned short *dest, const unsigned short *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint_put_signal(unsigned int *dest, const unsigned int *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ulong_put_signal(unsigned long *dest, const unsigned long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_put_signal(unsigned long long *dest,
    const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
    int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int8_put_signal(int8_t *dest, const int8_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int16_put_signal(int16_t *dest, const int16_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int32_put_signal(int32_t *dest, const int32_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int64_put_signal(int64_t *dest, const int64_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint8_put_signal(uint8_t *dest, const uint8_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint16_put_signal(uint16_t *dest, const uint16_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint32_put_signal(uint32_t *dest, const uint32_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint64_put_signal(uint64_t *dest, const uint64_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_size_put_signal(size_t *dest, const size_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_put_signal(ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_put_signal(shmem_ctx_t ctx, float *dest, const float *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_put_signal(shmem_ctx_t ctx, double *dest,
    const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_put_signal(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_char_put_signal(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_put_signal(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_short_put_signal(shmem_ctx_t ctx, short *dest, const short *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_put_signal(shmem_ctx_t ctx, int *dest, const int *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_put_signal(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_put_signal(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_put_signal(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_put_signal(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_put_signal(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_put_signal(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_put_signal(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
    int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_put_signal(shmem_ctx_t ctx, int8_t *dest, const int8_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_put_signal(shmem_ctx_t ctx, int16_t *dest,
    const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_put_signal(shmem_ctx_t ctx, int32_t *dest,
    const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_put_signal(shmem_ctx_t ctx, int64_t *dest,
    const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_put_signal(shmem_ctx_t ctx, uint8_t *dest,
    const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_put_signal(shmem_ctx_t ctx, uint16_t *dest,
    const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_put_signal(shmem_ctx_t ctx, uint32_t *dest,
    const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_put_signal(shmem_ctx_t ctx, uint64_t *dest,
    const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_put_signal(shmem_ctx_t ctx, size_t *dest, const size_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_put_signal(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_put8_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put16_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put32_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put64_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put128_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_putmem_signal(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put8_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put16_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put32_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put64_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put128_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_putmem_signal(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* Does the same as `shmem_put_signal`, but `source` must stay unchanged until `shmem_quiet`.
 * Type-generic: shmem_put_signal_nbi. */
ONESHMEM_DIRECT void shmem_float_put_signal_nbi(float *dest, const float *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_double_put_signal_nbi(double *dest, const double *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_longdouble_put_signal_nbi(long double *dest, const long double *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_char_put_signal_nbi(char *dest, const char *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_schar_put_signal_nbi(signed char *dest, const signed char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_short_put_signal_nbi(short *dest, const short *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int_put_signal_nbi(int *dest, const int *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_long_put_signal_nbi(long *dest, const long *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_longlong_put_signal_nbi(long long *dest, const long long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uchar_put_signal_nbi(unsigned char *dest, const unsigned char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ushort_put_signal_nbi(unsigned short *dest, const unsigned short *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint_put_signal_nbi(unsigned int *dest, const unsigned int *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ulong_put_signal_nbi(unsigned long *dest, const unsigned long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ulonglong_put_signal_nbi(unsigned long long *dest,
    const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
    int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int8_put_signal_nbi(int8_t *dest, const int8_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int16_put_signal_nbi(int16_t *dest, const int16_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int32_put_signal_nbi(int32_t *dest, const int32_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_int64_put_signal_nbi(int64_t *dest, const int64_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint8_put_signal_nbi(uint8_t *dest, const uint8_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint16_put_signal_nbi(uint16_t *dest, const uint16_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint32_put_signal_nbi(uint32_t *dest, const uint32_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_uint64_put_signal_nbi(uint64_t *dest, const uint64_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_size_put_signal_nbi(size_t *dest, const size_t *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ptrdiff_put_signal_nbi(ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_float_put_signal_nbi(shmem_ctx_t ctx, float *dest,
    const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_double_put_signal_nbi(shmem_ctx_t ctx, double *dest,
    const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_longdouble_put_signal_nbi(shmem_ctx_t ctx, long double *dest,
    const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_char_put_signal_nbi(shmem_ctx_t ctx, char *dest, const char *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_schar_put_signal_nbi(shmem_ctx_t ctx, signed char *dest,
    const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_short_put_signal_nbi(shmem_ctx_t ctx, short *dest,
    const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int_put_signal_nbi(shmem_ctx_t ctx, int *dest, const int *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_long_put_signal_nbi(shmem_ctx_t ctx, long *dest, const long *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_longlong_put_signal_nbi(shmem_ctx_t ctx, long long *dest,
    const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uchar_put_signal_nbi(shmem_ctx_t ctx, unsigned char *dest,
    const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ushort_put_signal_nbi(shmem_ctx_t ctx, unsigned short *dest,
    const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_uint_put_signal_nbi(shmem_ctx_t ctx, unsigned int *dest,
    const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulong_put_signal_nbi(shmem_ctx_t ctx, unsigned long *dest,
    const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_ctx_ulonglong_put_signal_nbi(shmem_ctx_t ctx, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
    int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int8_put_signal_nbi(shmem_ctx_t ctx, int8_t *dest,
    const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int16_put_signal_nbi(shmem_ctx_t ctx, int16_t *dest,
    const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int32_put_signal_nbi(shmem_ctx_t ctx, int32_t *dest,
    const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_int64_put_signal_nbi(shmem_ctx_t ctx, int64_t *dest,
    const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint8_put_signal_nbi(shmem_ctx_t ctx, uint8_t *dest,
    const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint16_put_signal_nbi(shmem_ctx_t ctx, uint16_t *dest,
    const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint32_put_signal_nbi(shmem_ctx_t ctx, uint32_t *dest,
    const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_uint64_put_signal_nbi(shmem_ctx_t ctx, uint64_t *dest,
    const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_size_put_signal_nbi(shmem_ctx_t ctx, size_t *dest,
    const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_ptrdiff_put_signal_nbi(shmem_ctx_t ctx, ptrdiff_t *dest,
    const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
    int pe);
ONESHMEM_DIRECT void shmem_put8_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put16_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put32_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put64_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_put128_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_putmem_signal_nbi(void *dest, const void *source, size_t nelems,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put8_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put16_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put32_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put64_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_put128_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
ONESHMEM_DIRECT void shmem_ctx_putmem_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
    size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* Returns the value of the calling PE's own signal object `sig_addr`. */
ONESHMEM_DIRECT uint64_t shmem_signal_fetch(const uint64_t *sig_addr);

/* Adds `signal` to the signal object `sig_addr` on PE `pe`.
 * Type-generic: shmem_signal_add. */
ONESHMEM_DIRECT void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
ONESHMEM_DIRECT void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal,
    int pe);

/* Sets the signal object `sig_addr` on PE `pe` to `signal`.
 * Type-generic: shmem_signal_set. */
ONESHMEM_DIRECT void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
ONESHMEM_DIRECT void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal,
    int pe);

/* ---- Collectives ----------------------------------------------------------------------------- */

/* Completes the calling PE's communication on the default context, then waits until all PEs
 * have called it. */
void shmem_barrier_all(void);

/* Waits until all PEs have called it. The PEs' own stores are visible then, but their puts may
 * not be. */
void shmem_sync_all(void);

/* Waits until all PEs of `team` have called it. Like `shmem_sync_all`, it completes no puts.
 * Type-generic: shmem_sync. */
int shmem_team_sync(shmem_team_t team);

/* Copies `nelems` elements from `source` on PE `PE_root` of the team to `dest` on all its PEs,
 * the root included. This and all team collectives return 0, or nonzero on failure.
 * Type-generic: shmem_broadcast. */
int shmem_float_broadcast(shmem_team_t team, float *dest, const float *source, size_t nelems,
    int PE_root);
int shmem_double_broadcast(shmem_team_t team, double *dest, const double *source, size_t nelems,
    int PE_root);
int shmem_longdouble_broadcast(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems, int PE_root);
int shmem_char_broadcast(shmem_team_t team, char *dest, const char *source, size_t nelems,
    int PE_root);
int shmem_schar_broadcast(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems, int PE_root);
int shmem_short_broadcast(shmem_team_t team, short *dest, const short *source, size_t nelems,
    int PE_root);
int shmem_int_broadcast(shmem_team_t team, int *dest, const int *source, size_t nelems,
    int PE_root);
int shmem_long_broadcast(shmem_team_t team, long *dest, const long *source, size_t nelems,
    int PE_root);
int shmem_longlong_broadcast(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems, int PE_root);
int shmem_uchar_broadcast(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems, int PE_root);
int shmem_ushort_broadcast(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems, int PE_root);
int shmem_uint_broadcast(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems, int PE_root);
int shmem_ulong_broadcast(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems, int PE_root);
int shmem_ulonglong_broadcast(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems, int PE_root);
int shmem_int8_broadcast(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems,
    int PE_root);
int shmem_int16_broadcast(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems,
    int PE_root);
int shmem_int32_broadcast(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems,
    int PE_root);
int shmem_int64_broadcast(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems,
    int PE_root);
int shmem_uint8_broadcast(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems,
    int PE_root);
int shmem_uint16_broadcast(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems,
    int PE_root);
int shmem_uint32_broadcast(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems,
    int PE_root);
int shmem_uint64_broadcast(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems,
    int PE_root);
int shmem_size_broadcast(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems,
    int PE_root);
int shmem_ptrdiff_broadcast(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems, int PE_root);
int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems,
    int PE_root);

/* Concatenates the PEs' `source` arrays, in the order of their numbers in `team`, to `dest` on
 * all of them. `nelems` may differ between PEs.
 * Type-generic: shmem_collect. */
int shmem_float_collect(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_collect(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_collect(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems);
int shmem_char_collect(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_collect(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems);
int shmem_short_collect(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_collect(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_collect(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_collect(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems);
int shmem_uchar_collect(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems);
int shmem_ushort_collect(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems);
int shmem_uint_collect(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems);
int shmem_ulong_collect(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems);
int shmem_ulonglong_collect(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems);
int shmem_int8_collect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_collect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_collect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_collect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_collect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_collect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_collect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_collect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_collect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_collect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems);
int shmem_collectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* Concatenates the PEs' `source` arrays, as `shmem_collect` does; `nelems` is equal on all PEs.
 * Type-generic: shmem_fcollect. */
int shmem_float_fcollect(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_fcollect(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_fcollect(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems);
int shmem_char_fcollect(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_fcollect(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems);
int shmem_short_fcollect(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_fcollect(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_fcollect(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_fcollect(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems);
int shmem_uchar_fcollect(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems);
int shmem_ushort_fcollect(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems);
int shmem_uint_fcollect(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems);
int shmem_ulong_fcollect(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems);
int shmem_ulonglong_fcollect(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems);
int shmem_int8_fcollect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_fcollect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_fcollect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_fcollect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_fcollect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_fcollect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_fcollect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_fcollect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_fcollect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_fcollect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems);
int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* Every PE of `team` sends every other a block of `nelems` elements: block `j` of `source` on
 * PE `i` becomes block `i` of `dest` on PE `j`.
 * Type-generic: shmem_alltoall. */
int shmem_float_alltoall(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_alltoall(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_alltoall(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems);
int shmem_char_alltoall(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_alltoall(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems);
int shmem_short_alltoall(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_alltoall(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_alltoall(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_alltoall(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems);
int shmem_uchar_alltoall(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems);
int shmem_ushort_alltoall(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems);
int shmem_uint_alltoall(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems);
int shmem_ulong_alltoall(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems);
int shmem_ulonglong_alltoall(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems);
int shmem_int8_alltoall(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_alltoall(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_alltoall(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_alltoall(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_alltoall(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_alltoall(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_alltoall(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_alltoall(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_alltoall(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_alltoall(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems);
int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* Does the same as `shmem_alltoall` for strided arrays: consecutive elements are `dst` elements
 * apart in `dest` and `sst` elements apart in `source`.
 * Type-generic: shmem_alltoalls. */
int shmem_float_alltoalls(shmem_team_t team, float *dest, const float *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_double_alltoalls(shmem_team_t team, double *dest, const double *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_longdouble_alltoalls(shmem_team_t team, long double *dest, const long double *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_char_alltoalls(shmem_team_t team, char *dest, const char *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_schar_alltoalls(shmem_team_t team, signed char *dest, const signed char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_short_alltoalls(shmem_team_t team, short *dest, const short *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_int_alltoalls(shmem_team_t team, int *dest, const int *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_long_alltoalls(shmem_team_t team, long *dest, const long *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_longlong_alltoalls(shmem_team_t team, long long *dest, const long long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uchar_alltoalls(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ushort_alltoalls(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint_alltoalls(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ulong_alltoalls(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ulonglong_alltoalls(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int8_alltoalls(shmem_team_t team, int8_t *dest, const int8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_int16_alltoalls(shmem_team_t team, int16_t *dest, const int16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_int32_alltoalls(shmem_team_t team, int32_t *dest, const int32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_int64_alltoalls(shmem_team_t team, int64_t *dest, const int64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_uint8_alltoalls(shmem_team_t team, uint8_t *dest, const uint8_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_uint16_alltoalls(shmem_team_t team, uint16_t *dest, const uint16_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_uint32_alltoalls(shmem_team_t team, uint32_t *dest, const uint32_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_uint64_alltoalls(shmem_team_t team, uint64_t *dest, const uint64_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_size_alltoalls(shmem_team_t team, size_t *dest, const size_t *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);
int shmem_ptrdiff_alltoalls(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_alltoallsmem(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
    ptrdiff_t sst, size_t nelems);

/* Combines the PEs' `source` arrays element by element with bitwise AND; `dest` gets the result
 * on all PEs of the team. In all reductions and scans `dest` and `source` may be one array.
 * Type-generic: shmem_and_reduce. */
int shmem_uchar_and_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_and_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_and_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_and_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_and_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_and_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_and_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_and_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_and_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_and_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_and_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_and_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_and_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_and_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* Computes the bitwise OR of the PEs' `source` arrays, element by element, on all PEs of the team.
 * Type-generic: shmem_or_reduce. */
int shmem_uchar_or_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_or_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_or_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_or_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_or_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_or_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_or_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_or_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_or_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_or_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_or_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_or_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_or_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_or_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* Computes the bitwise exclusive OR of the PEs' `source` arrays, element by element, on all PEs
 * of the team.
 * Type-generic: shmem_xor_reduce. */
int shmem_uchar_xor_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_xor_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_xor_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_xor_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_xor_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_xor_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_xor_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_xor_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_xor_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_xor_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_xor_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_xor_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_xor_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_xor_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* Computes the maximum of the PEs' `source` arrays, element by element, on all PEs of the team.
 * Type-generic: shmem_max_reduce. */
int shmem_char_max_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_max_reduce(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nreduce);
int shmem_short_max_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_max_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_max_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_max_reduce(shmem_team_t team, long long *dest, const long long *source,
    size_t nreduce);
int shmem_ptrdiff_max_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nreduce);
int shmem_uchar_max_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_max_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_max_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_max_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_max_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_max_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_max_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_max_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_max_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_max_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_max_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_max_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_max_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_max_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_max_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_max_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_max_reduce(shmem_team_t team, long double *dest, const long double *source,
    size_t nreduce);

/* Computes the minimum of the PEs' `source` arrays, element by element, on all PEs of the team.
 * Type-generic: shmem_min_reduce. */
int shmem_char_min_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_min_reduce(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nreduce);
int shmem_short_min_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_min_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_min_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_min_reduce(shmem_team_t team, long long *dest, const long long *source,
    size_t nreduce);
int shmem_ptrdiff_min_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nreduce);
int shmem_uchar_min_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_min_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_min_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_min_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_min_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_min_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_min_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_min_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_min_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_min_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_min_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_min_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_min_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_min_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_min_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_min_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_min_reduce(shmem_team_t team, long double *dest, const long double *source,
    size_t nreduce);

/* Computes the sum of the PEs' `source` arrays, element by element, on all PEs of the team.
 * Type-generic: shmem_sum_reduce. */
int shmem_char_sum_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_sum_reduce(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nreduce);
int shmem_short_sum_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_sum_reduce(shmem_team_t team, long long *dest, const long long *source,
    size_t nreduce);
int shmem_ptrdiff_sum_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nreduce);
int shmem_uchar_sum_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_sum_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_sum_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_sum_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_sum_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_sum_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_sum_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_sum_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_sum_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_sum_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_sum_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_sum_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_sum_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_sum_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_sum_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_sum_reduce(shmem_team_t team, long double *dest, const long double *source,
    size_t nreduce);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX int shmem_complexd_sum_reduce(shmem_team_t team, double _Complex *dest,
    const double _Complex *source, size_t nreduce);
ONESHMEM_COMPLEX int shmem_complexf_sum_reduce(shmem_team_t team, float _Complex *dest,
    const float _Complex *source, size_t nreduce);
#endif

/* Computes the product of the PEs' `source` arrays, element by element, on all PEs of the team.
 * Type-generic: shmem_prod_reduce. */
int shmem_char_prod_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_prod_reduce(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nreduce);
int shmem_short_prod_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_prod_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_prod_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_prod_reduce(shmem_team_t team, long long *dest, const long long *source,
    size_t nreduce);
int shmem_ptrdiff_prod_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nreduce);
int shmem_uchar_prod_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nreduce);
int shmem_ushort_prod_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nreduce);
int shmem_uint_prod_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nreduce);
int shmem_ulong_prod_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nreduce);
int shmem_ulonglong_prod_reduce(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nreduce);
int shmem_int8_prod_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_prod_reduce(shmem_team_t team, int16_t *dest, const int16_t *source,
    size_t nreduce);
int shmem_int32_prod_reduce(shmem_team_t team, int32_t *dest, const int32_t *source,
    size_t nreduce);
int shmem_int64_prod_reduce(shmem_team_t team, int64_t *dest, const int64_t *source,
    size_t nreduce);
int shmem_uint8_prod_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source,
    size_t nreduce);
int shmem_uint16_prod_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nreduce);
int shmem_uint32_prod_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nreduce);
int shmem_uint64_prod_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nreduce);
int shmem_size_prod_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_prod_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_prod_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_prod_reduce(shmem_team_t team, long double *dest, const long double *source,
    size_t nreduce);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX int shmem_complexd_prod_reduce(shmem_team_t team, double _Complex *dest,
    const double _Complex *source, size_t nreduce);
ONESHMEM_COMPLEX int shmem_complexf_prod_reduce(shmem_team_t team, float _Complex *dest,
    const float _Complex *source, size_t nreduce);
#endif

/* Inclusive scan: on PE `i` of the team `dest` gets the sum of the `source` arrays of PEs 0 to `i`.
 * Type-generic: shmem_sum_inscan. */
int shmem_char_sum_inscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_sum_inscan(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems);
int shmem_short_sum_inscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_sum_inscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_sum_inscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_sum_inscan(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems);
int shmem_ptrdiff_sum_inscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems);
int shmem_uchar_sum_inscan(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems);
int shmem_ushort_sum_inscan(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems);
int shmem_uint_sum_inscan(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems);
int shmem_ulong_sum_inscan(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems);
int shmem_ulonglong_sum_inscan(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems);
int shmem_int8_sum_inscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_sum_inscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_sum_inscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_sum_inscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_sum_inscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_sum_inscan(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nelems);
int shmem_uint32_sum_inscan(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nelems);
int shmem_uint64_sum_inscan(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nelems);
int shmem_size_sum_inscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_float_sum_inscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_sum_inscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_sum_inscan(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX int shmem_complexd_sum_inscan(shmem_team_t team, double _Complex *dest,
    const double _Complex *source, size_t nelems);
ONESHMEM_COMPLEX int shmem_complexf_sum_inscan(shmem_team_t team, float _Complex *dest,
    const float _Complex *source, size_t nelems);
#endif

/* Exclusive scan: on PE `i` of the team `dest` gets the sum of the `source` arrays of PEs 0 to
 * `i - 1`, and on PE 0 zeros.
 * Type-generic: shmem_sum_exscan. */
int shmem_char_sum_exscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_sum_exscan(shmem_team_t team, signed char *dest, const signed char *source,
    size_t nelems);
int shmem_short_sum_exscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_sum_exscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_sum_exscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_sum_exscan(shmem_team_t team, long long *dest, const long long *source,
    size_t nelems);
int shmem_ptrdiff_sum_exscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source,
    size_t nelems);
int shmem_uchar_sum_exscan(shmem_team_t team, unsigned char *dest, const unsigned char *source,
    size_t nelems);
int shmem_ushort_sum_exscan(shmem_team_t team, unsigned short *dest, const unsigned short *source,
    size_t nelems);
int shmem_uint_sum_exscan(shmem_team_t team, unsigned int *dest, const unsigned int *source,
    size_t nelems);
int shmem_ulong_sum_exscan(shmem_team_t team, unsigned long *dest, const unsigned long *source,
    size_t nelems);
int shmem_ulonglong_sum_exscan(shmem_team_t team, unsigned long long *dest,
    const unsigned long long *source, size_t nelems);
int shmem_int8_sum_exscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_sum_exscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_sum_exscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_sum_exscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_sum_exscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_sum_exscan(shmem_team_t team, uint16_t *dest, const uint16_t *source,
    size_t nelems);
int shmem_uint32_sum_exscan(shmem_team_t team, uint32_t *dest, const uint32_t *source,
    size_t nelems);
int shmem_uint64_sum_exscan(shmem_team_t team, uint64_t *dest, const uint64_t *source,
    size_t nelems);
int shmem_size_sum_exscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_float_sum_exscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_sum_exscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_sum_exscan(shmem_team_t team, long double *dest, const long double *source,
    size_t nelems);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX int shmem_complexd_sum_exscan(shmem_team_t team, double _Complex *dest,
    const double _Complex *source, size_t nelems);
ONESHMEM_COMPLEX int shmem_complexf_sum_exscan(shmem_team_t team, float _Complex *dest,
    const float _Complex *source, size_t nelems);
#endif

/* ---- Waiting for other PEs ------------------------------------------------------------------- */

/* Waits until `*ivar cmp cmp_value` holds; `ivar` is a symmetric variable of the calling PE
 * that another PE or thread changes by an atomic operation, and `cmp` a `SHMEM_CMP_` constant.
 * Type-generic: shmem_wait_until. */
void shmem_int_wait_until(int *ivar, int cmp, int cmp_value);
void shmem_long_wait_until(long *ivar, int cmp, long cmp_value);
void shmem_longlong_wait_until(long long *ivar, int cmp, long long cmp_value);
void shmem_uint_wait_until(unsigned int *ivar, int cmp, unsigned int cmp_value);
void shmem_ulong_wait_until(unsigned long *ivar, int cmp, unsigned long cmp_value);
void shmem_ulonglong_wait_until(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
void shmem_int32_wait_until(int32_t *ivar, int cmp, int32_t cmp_value);
void shmem_int64_wait_until(int64_t *ivar, int cmp, int64_t cmp_value);
void shmem_uint32_wait_until(uint32_t *ivar, int cmp, uint32_t cmp_value);
void shmem_uint64_wait_until(uint64_t *ivar, int cmp, uint64_t cmp_value);
void shmem_size_wait_until(size_t *ivar, int cmp, size_t cmp_value);
void shmem_ptrdiff_wait_until(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);

/* Waits until the comparison holds for all elements of `ivars`. Elements `i` with nonzero
 * `status[i]` are left out; `status` may be a null pointer.
 * Type-generic: shmem_wait_until_all. */
void shmem_int_wait_until_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
void shmem_long_wait_until_all(long *ivars, size_t nelems, const int *status, int cmp,
    long cmp_value);
void shmem_longlong_wait_until_all(long long *ivars, size_t nelems, const int *status, int cmp,
    long long cmp_value);
void shmem_uint_wait_until_all(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    unsigned int cmp_value);
void shmem_ulong_wait_until_all(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    unsigned long cmp_value);
void shmem_ulonglong_wait_until_all(unsigned long long *ivars, size_t nelems, const int *status,
    int cmp, unsigned long long cmp_value);
void shmem_int32_wait_until_all(int32_t *ivars, size_t nelems, const int *status, int cmp,
    int32_t cmp_value);
void shmem_int64_wait_until_all(int64_t *ivars, size_t nelems, const int *status, int cmp,
    int64_t cmp_value);
void shmem_uint32_wait_until_all(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    uint32_t cmp_value);
void shmem_uint64_wait_until_all(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    uint64_t cmp_value);
void shmem_size_wait_until_all(size_t *ivars, size_t nelems, const int *status, int cmp,
    size_t cmp_value);
void shmem_ptrdiff_wait_until_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    ptrdiff_t cmp_value);

/* Waits until the comparison holds for one of the elements; returns its index, or `SIZE_MAX`
 * if there is nothing to wait for.
 * Type-generic: shmem_wait_until_any. */
size_t shmem_int_wait_until_any(int *ivars, size_t nelems, const int *status, int cmp,
    int cmp_value);
size_t shmem_long_wait_until_any(long *ivars, size_t nelems, const int *status, int cmp,
    long cmp_value);
size_t shmem_longlong_wait_until_any(long long *ivars, size_t nelems, const int *status, int cmp,
    long long cmp_value);
size_t shmem_uint_wait_until_any(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    unsigned int cmp_value);
size_t shmem_ulong_wait_until_any(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    unsigned long cmp_value);
size_t shmem_ulonglong_wait_until_any(unsigned long long *ivars, size_t nelems, const int *status,
    int cmp, unsigned long long cmp_value);
size_t shmem_int32_wait_until_any(int32_t *ivars, size_t nelems, const int *status, int cmp,
    int32_t cmp_value);
size_t shmem_int64_wait_until_any(int64_t *ivars, size_t nelems, const int *status, int cmp,
    int64_t cmp_value);
size_t shmem_uint32_wait_until_any(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    uint32_t cmp_value);
size_t shmem_uint64_wait_until_any(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    uint64_t cmp_value);
size_t shmem_size_wait_until_any(size_t *ivars, size_t nelems, const int *status, int cmp,
    size_t cmp_value);
size_t shmem_ptrdiff_wait_until_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    ptrdiff_t cmp_value);

/* Waits until the comparison holds for at least one of the elements; stores the indices of
 * all for which it was seen to hold to `indices` and returns their number.
 * Type-generic: shmem_wait_until_some. */
size_t shmem_int_wait_until_some(int *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, int cmp_value);
size_t shmem_long_wait_until_some(long *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, long cmp_value);
size_t shmem_longlong_wait_until_some(long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, long long cmp_value);
size_t shmem_uint_wait_until_some(unsigned int *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, unsigned int cmp_value);
size_t shmem_ulong_wait_until_some(unsigned long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_wait_until_some(unsigned long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_wait_until_some(int32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, int32_t cmp_value);
size_t shmem_int64_wait_until_some(int64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, int64_t cmp_value);
size_t shmem_uint32_wait_until_some(uint32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, uint32_t cmp_value);
size_t shmem_uint64_wait_until_some(uint64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, uint64_t cmp_value);
size_t shmem_size_wait_until_some(size_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, size_t cmp_value);
size_t shmem_ptrdiff_wait_until_some(ptrdiff_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, ptrdiff_t cmp_value);

/* Does the same as `shmem_wait_until_all`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_wait_until_all_vector. */
void shmem_int_wait_until_all_vector(int *ivars, size_t nelems, const int *status, int cmp,
    const int *cmp_values);
void shmem_long_wait_until_all_vector(long *ivars, size_t nelems, const int *status, int cmp,
    const long *cmp_values);
void shmem_longlong_wait_until_all_vector(long long *ivars, size_t nelems, const int *status,
    int cmp, const long long *cmp_values);
void shmem_uint_wait_until_all_vector(unsigned int *ivars, size_t nelems, const int *status,
    int cmp, const unsigned int *cmp_values);
void shmem_ulong_wait_until_all_vector(unsigned long *ivars, size_t nelems, const int *status,
    int cmp, const unsigned long *cmp_values);
void shmem_ulonglong_wait_until_all_vector(unsigned long long *ivars, size_t nelems,
    const int *status, int cmp, const unsigned long long *cmp_values);
void shmem_int32_wait_until_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp,
    const int32_t *cmp_values);
void shmem_int64_wait_until_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp,
    const int64_t *cmp_values);
void shmem_uint32_wait_until_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    const uint32_t *cmp_values);
void shmem_uint64_wait_until_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    const uint64_t *cmp_values);
void shmem_size_wait_until_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp,
    const size_t *cmp_values);
void shmem_ptrdiff_wait_until_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status,
    int cmp, const ptrdiff_t *cmp_values);

/* Does the same as `shmem_wait_until_any`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_wait_until_any_vector. */
size_t shmem_int_wait_until_any_vector(int *ivars, size_t nelems, const int *status, int cmp,
    const int *cmp_values);
size_t shmem_long_wait_until_any_vector(long *ivars, size_t nelems, const int *status, int cmp,
    const long *cmp_values);
size_t shmem_longlong_wait_until_any_vector(long long *ivars, size_t nelems, const int *status,
    int cmp, const long long *cmp_values);
size_t shmem_uint_wait_until_any_vector(unsigned int *ivars, size_t nelems, const int *status,
    int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_wait_until_any_vector(unsigned long *ivars, size_t nelems, const int *status,
    int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_wait_until_any_vector(unsigned long long *ivars, size_t nelems,
    const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_wait_until_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp,
    const int32_t *cmp_values);
size_t shmem_int64_wait_until_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp,
    const int64_t *cmp_values);
size_t shmem_uint32_wait_until_any_vector(uint32_t *ivars, size_t nelems, const int *status,
    int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_wait_until_any_vector(uint64_t *ivars, size_t nelems, const int *status,
    int cmp, const uint64_t *cmp_values);
size_t shmem_size_wait_until_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp,
    const size_t *cmp_values);
size_t shmem_ptrdiff_wait_until_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status,
    int cmp, const ptrdiff_t *cmp_values);

/* Does the same as `shmem_wait_until_some`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_wait_until_some_vector. */
size_t shmem_int_wait_until_some_vector(int *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const int *cmp_values);
size_t shmem_long_wait_until_some_vector(long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const long *cmp_values);
size_t shmem_longlong_wait_until_some_vector(long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_wait_until_some_vector(unsigned int *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_wait_until_some_vector(unsigned long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_wait_until_some_vector(unsigned long long *ivars, size_t nelems,
    size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_wait_until_some_vector(int32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_wait_until_some_vector(int64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_wait_until_some_vector(uint32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_wait_until_some_vector(uint64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_wait_until_some_vector(size_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_wait_until_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const ptrdiff_t *cmp_values);

/* Tells whether `*ivar cmp cmp_value` holds now: 1 or 0.
 * Type-generic: shmem_test. */
int shmem_int_test(int *ivar, int cmp, int cmp_value);
int shmem_long_test(long *ivar, int cmp, long cmp_value);
int shmem_longlong_test(long long *ivar, int cmp, long long cmp_value);
int shmem_uint_test(unsigned int *ivar, int cmp, unsigned int cmp_value);
int shmem_ulong_test(unsigned long *ivar, int cmp, unsigned long cmp_value);
int shmem_ulonglong_test(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
int shmem_int32_test(int32_t *ivar, int cmp, int32_t cmp_value);
int shmem_int64_test(int64_t *ivar, int cmp, int64_t cmp_value);
int shmem_uint32_test(uint32_t *ivar, int cmp, uint32_t cmp_value);
int shmem_uint64_test(uint64_t *ivar, int cmp, uint64_t cmp_value);
int shmem_size_test(size_t *ivar, int cmp, size_t cmp_value);
int shmem_ptrdiff_test(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);

/* Tells whether the comparison holds now for all elements that `status` does not leave out: 1 or 0.
 * Type-generic: shmem_test_all. */
int shmem_int_test_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
int shmem_long_test_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
int shmem_longlong_test_all(long long *ivars, size_t nelems, const int *status, int cmp,
    long long cmp_value);
int shmem_uint_test_all(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    unsigned int cmp_value);
int shmem_ulong_test_all(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    unsigned long cmp_value);
int shmem_ulonglong_test_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp,
    unsigned long long cmp_value);
int shmem_int32_test_all(int32_t *ivars, size_t nelems, const int *status, int cmp,
    int32_t cmp_value);
int shmem_int64_test_all(int64_t *ivars, size_t nelems, const int *status, int cmp,
    int64_t cmp_value);
int shmem_uint32_test_all(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    uint32_t cmp_value);
int shmem_uint64_test_all(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    uint64_t cmp_value);
int shmem_size_test_all(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
int shmem_ptrdiff_test_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    ptrdiff_t cmp_value);

/* Returns the index of an element for which the comparison holds now, or `SIZE_MAX`.
 * Type-generic: shmem_test_any. */
size_t shmem_int_test_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_long_test_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
size_t shmem_longlong_test_any(long long *ivars, size_t nelems, const int *status, int cmp,
    long long cmp_value);
size_t shmem_uint_test_any(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    unsigned int cmp_value);
size_t shmem_ulong_test_any(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    unsigned long cmp_value);
size_t shmem_ulonglong_test_any(unsigned long long *ivars, size_t nelems, const int *status,
    int cmp, unsigned long long cmp_value);
size_t shmem_int32_test_any(int32_t *ivars, size_t nelems, const int *status, int cmp,
    int32_t cmp_value);
size_t shmem_int64_test_any(int64_t *ivars, size_t nelems, const int *status, int cmp,
    int64_t cmp_value);
size_t shmem_uint32_test_any(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    uint32_t cmp_value);
size_t shmem_uint64_test_any(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    uint64_t cmp_value);
size_t shmem_size_test_any(size_t *ivars, size_t nelems, const int *status, int cmp,
    size_t cmp_value);
size_t shmem_ptrdiff_test_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    ptrdiff_t cmp_value);

/* Stores the indices of all elements for which the comparison holds now to `indices`; returns
 * their number.
 * Type-generic: shmem_test_some. */
size_t shmem_int_test_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp,
    int cmp_value);
size_t shmem_long_test_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp,
    long cmp_value);
size_t shmem_longlong_test_some(long long *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, long long cmp_value);
size_t shmem_uint_test_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, unsigned int cmp_value);
size_t shmem_ulong_test_some(unsigned long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_test_some(unsigned long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_test_some(int32_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, int32_t cmp_value);
size_t shmem_int64_test_some(int64_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, int64_t cmp_value);
size_t shmem_uint32_test_some(uint32_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, uint32_t cmp_value);
size_t shmem_uint64_test_some(uint64_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, uint64_t cmp_value);
size_t shmem_size_test_some(size_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, size_t cmp_value);
size_t shmem_ptrdiff_test_some(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, ptrdiff_t cmp_value);

/* Does the same as `shmem_test_all`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_test_all_vector. */
int shmem_int_test_all_vector(int *ivars, size_t nelems, const int *status, int cmp,
    const int *cmp_values);
int shmem_long_test_all_vector(long *ivars, size_t nelems, const int *status, int cmp,
    const long *cmp_values);
int shmem_longlong_test_all_vector(long long *ivars, size_t nelems, const int *status, int cmp,
    const long long *cmp_values);
int shmem_uint_test_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    const unsigned int *cmp_values);
int shmem_ulong_test_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    const unsigned long *cmp_values);
int shmem_ulonglong_test_all_vector(unsigned long long *ivars, size_t nelems, const int *status,
    int cmp, const unsigned long long *cmp_values);
int shmem_int32_test_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp,
    const int32_t *cmp_values);
int shmem_int64_test_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp,
    const int64_t *cmp_values);
int shmem_uint32_test_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    const uint32_t *cmp_values);
int shmem_uint64_test_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    const uint64_t *cmp_values);
int shmem_size_test_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp,
    const size_t *cmp_values);
int shmem_ptrdiff_test_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    const ptrdiff_t *cmp_values);

/* Does the same as `shmem_test_any`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_test_any_vector. */
size_t shmem_int_test_any_vector(int *ivars, size_t nelems, const int *status, int cmp,
    const int *cmp_values);
size_t shmem_long_test_any_vector(long *ivars, size_t nelems, const int *status, int cmp,
    const long *cmp_values);
size_t shmem_longlong_test_any_vector(long long *ivars, size_t nelems, const int *status, int cmp,
    const long long *cmp_values);
size_t shmem_uint_test_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp,
    const unsigned int *cmp_values);
size_t shmem_ulong_test_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp,
    const unsigned long *cmp_values);
size_t shmem_ulonglong_test_any_vector(unsigned long long *ivars, size_t nelems, const int *status,
    int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_test_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp,
    const int32_t *cmp_values);
size_t shmem_int64_test_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp,
    const int64_t *cmp_values);
size_t shmem_uint32_test_any_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp,
    const uint32_t *cmp_values);
size_t shmem_uint64_test_any_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp,
    const uint64_t *cmp_values);
size_t shmem_size_test_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp,
    const size_t *cmp_values);
size_t shmem_ptrdiff_test_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp,
    const ptrdiff_t *cmp_values);

/* Does the same as `shmem_test_some`, but compares element `i` with `cmp_values[i]`.
 * Type-generic: shmem_test_some_vector. */
size_t shmem_int_test_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, const int *cmp_values);
size_t shmem_long_test_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, const long *cmp_values);
size_t shmem_longlong_test_some_vector(long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_test_some_vector(unsigned int *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_test_some_vector(unsigned long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_test_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_test_some_vector(int32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_test_some_vector(int64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_test_some_vector(uint32_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_test_some_vector(uint64_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_test_some_vector(size_t *ivars, size_t nelems, size_t *indices, const int *status,
    int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_test_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices,
    const int *status, int cmp, const ptrdiff_t *cmp_values);

/* Waits until `*sig_addr cmp cmp_value` holds; returns the value for which it held. */
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---- Order and completion -------------------------------------------------------------------- */

/* Operations of this context to a PE before the fence arrive there before those after it. */
void shmem_fence(void);
void shmem_ctx_fence(shmem_ctx_t ctx);

/* Waits until all operations of this context are complete and visible on all PEs. */
void shmem_quiet(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* Does the same as `shmem_quiet` for the operations to the `npes` PEs in `target_pes`. */
void shmem_pe_quiet(const int *target_pes, size_t npes);
void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes);

/* ---- Locks ----------------------------------------------------------------------------------- */

/* Acquires a lock: a symmetric variable, 0 on all PEs at first, that is one lock for the whole
 * job. Waiting PEs get it in the order of their calls. Where PEs share CPUs, a PE that runs takes
 * a free lock at once, until the first of those that wait has waited for 1 ms; then the lock is
 * kept for that one. So the k-th in line waits for k ms at most, beside what the holders take and
 * the time until it has a CPU. */
void shmem_set_lock(long *lock);

/* Tries to acquire a lock without waiting: 0 if acquired, 1 if a PE holds it. */
int shmem_test_lock(long *lock);

/* Completes the calling PE's communication on the default context, then releases a lock that
 * it holds. */
void shmem_clear_lock(long *lock);

/* ---- Profiling ------------------------------------------------------------------------------- */

/* Tells the profiling tool what to do: at most 0 off, 1 normal, 2 flush, more as the tool
 * defines. The library itself does nothing. */
void shmem_pcontrol(int level, ...);

/* ---- Deprecated routines --------------------------------------------------------------------- */

/* They work, and will go on working; new programs have no use for them. */

/* Deprecated since 1.2: use shmem_my_pe. */
int _my_pe(void);

/* Deprecated since 1.2: use shmem_n_pes. */
int _num_pes(void);

/* Starts the library; the argument is ignored, further calls do nothing, and the library
 * ends by itself at the end of the program.
 * Deprecated since 1.2: use shmem_init. */
void start_pes(int npes);

/* Deprecated since 1.2: use shmem_malloc. */
void *shmalloc(size_t size);

/* Deprecated since 1.2: use shmem_align. */
void *shmemalign(size_t alignment, size_t size);

/* Deprecated since 1.2: use shmem_realloc. */
void *shrealloc(void *ptr, size_t size);

/* Deprecated since 1.2: use shmem_free. */
void shfree(void *ptr);

/* Deprecated since 1.4: use shmem_atomic_fetch. Type-generic: shmem_fetch. */
ONESHMEM_DIRECT float shmem_float_fetch(const float *source, int pe);
ONESHMEM_DIRECT double shmem_double_fetch(const double *source, int pe);
ONESHMEM_DIRECT int shmem_int_fetch(const int *source, int pe);
ONESHMEM_DIRECT long shmem_long_fetch(const long *source, int pe);
ONESHMEM_DIRECT long long shmem_longlong_fetch(const long long *source, int pe);

/* Deprecated since 1.4: use shmem_atomic_set. Type-generic: shmem_set. */
ONESHMEM_DIRECT void shmem_float_set(float *dest, float value, int pe);
ONESHMEM_DIRECT void shmem_double_set(double *dest, double value, int pe);
ONESHMEM_DIRECT void shmem_int_set(int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_set(long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_set(long long *dest, long long value, int pe);

/* Deprecated since 1.4: use shmem_atomic_compare_swap. Type-generic: shmem_cswap. */
ONESHMEM_DIRECT int shmem_int_cswap(int *dest, int cond, int value, int pe);
ONESHMEM_DIRECT long shmem_long_cswap(long *dest, long cond, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_cswap(long long *dest, long long cond, long long value,
    int pe);

/* Deprecated since 1.4: use shmem_atomic_swap. Type-generic: shmem_swap. */
ONESHMEM_DIRECT float shmem_float_swap(float *dest, float value, int pe);
ONESHMEM_DIRECT double shmem_double_swap(double *dest, double value, int pe);
ONESHMEM_DIRECT int shmem_int_swap(int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_long_swap(long *dest, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_swap(long long *dest, long long value, int pe);

/* Deprecated since 1.4: use shmem_atomic_swap. */
ONESHMEM_DIRECT long shmem_swap(long *dest, long value, int pe);

/* Deprecated since 1.4: use shmem_atomic_fetch_inc. Type-generic: shmem_finc. */
ONESHMEM_DIRECT int shmem_int_finc(int *dest, int pe);
ONESHMEM_DIRECT long shmem_long_finc(long *dest, int pe);
ONESHMEM_DIRECT long long shmem_longlong_finc(long long *dest, int pe);

/* Deprecated since 1.4: use shmem_atomic_inc. Type-generic: shmem_inc. */
ONESHMEM_DIRECT void shmem_int_inc(int *dest, int pe);
ONESHMEM_DIRECT void shmem_long_inc(long *dest, int pe);
ONESHMEM_DIRECT void shmem_longlong_inc(long long *dest, int pe);

/* Deprecated since 1.4: use shmem_atomic_fetch_add. Type-generic: shmem_fadd. */
ONESHMEM_DIRECT int shmem_int_fadd(int *dest, int value, int pe);
ONESHMEM_DIRECT long shmem_long_fadd(long *dest, long value, int pe);
ONESHMEM_DIRECT long long shmem_longlong_fadd(long long *dest, long long value, int pe);

/* Deprecated since 1.4: use shmem_atomic_add. Type-generic: shmem_add. */
ONESHMEM_DIRECT void shmem_int_add(int *dest, int value, int pe);
ONESHMEM_DIRECT void shmem_long_add(long *dest, long value, int pe);
ONESHMEM_DIRECT void shmem_longlong_add(long long *dest, long long value, int pe);

/* Completes the calling PE's communication on the default context, then waits until all PEs
 * of the active set have called it.
 * Deprecated since 1.5: use shmem_quiet and shmem_team_sync. */
void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* Waits until all PEs of the active set have called it. Like `shmem_sync_all`, it completes no puts.
 * Deprecated since 1.5: use shmem_team_sync. */
void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* Copies `nelems` elements from `source` on the root to `dest` on the other PEs of the active
 * set. `PE_root` counts within the active set; the root's `dest` is not written.
 * Deprecated since 1.5: use shmem_broadcast. */
void shmem_broadcast32(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,
    int logPE_stride, int PE_size, long *pSync);
void shmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,
    int logPE_stride, int PE_size, long *pSync);

/* Concatenates the `source` arrays of the PEs of the active set; `nelems` may differ between PEs.
 * Deprecated since 1.5: use shmem_collect. */
void shmem_collect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);
void shmem_collect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);

/* Concatenates the `source` arrays of the PEs of the active set; `nelems` is equal on all PEs.
 * Deprecated since 1.5: use shmem_fcollect. */
void shmem_fcollect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);
void shmem_fcollect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);

/* Every PE of the active set sends every other a block of `nelems` elements.
 * Deprecated since 1.5: use shmem_alltoall. */
void shmem_alltoall32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);
void shmem_alltoall64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
    int PE_size, long *pSync);

/* Every PE of the active set sends every other a block of `nelems` elements of strided arrays.
 * Deprecated since 1.5: use shmem_alltoalls. */
void shmem_alltoalls32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
    int PE_start, int logPE_stride, int PE_size, long *pSync);
void shmem_alltoalls64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
    int PE_start, int logPE_stride, int PE_size, long *pSync);

/* Computes the bitwise AND of the `source` arrays of an active set, element by element. In all
 * reductions over active sets `pWrk` is symmetric work space of
 * max(nreduce / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements.
 * Deprecated since 1.5: use shmem_and_reduce. */
void shmem_short_and_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_and_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_and_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_and_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* Computes the bitwise OR of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_or_reduce. */
void shmem_short_or_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_or_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_or_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_or_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* Computes the bitwise exclusive OR of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_xor_reduce. */
void shmem_short_xor_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_xor_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_xor_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_xor_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* Computes the maximum of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_max_reduce. */
void shmem_short_max_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_max_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_max_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_max_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_max_to_all(float *dest, const float *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, float *pWrk, long *pSync);
void shmem_double_max_to_all(double *dest, const double *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_max_to_all(long double *dest, const long double *source, int nreduce,
    int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);

/* Computes the minimum of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_min_reduce. */
void shmem_short_min_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_min_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_min_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_min_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_min_to_all(float *dest, const float *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, float *pWrk, long *pSync);
void shmem_double_min_to_all(double *dest, const double *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_min_to_all(long double *dest, const long double *source, int nreduce,
    int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);

/* Computes the sum of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_sum_reduce. */
void shmem_short_sum_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_sum_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
    int PE_size, int *pWrk, long *pSync);
void shmem_long_sum_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_sum_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_sum_to_all(float *dest, const float *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, float *pWrk, long *pSync);
void shmem_double_sum_to_all(double *dest, const double *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_sum_to_all(long double *dest, const long double *source, int nreduce,
    int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX void shmem_complexd_sum_to_all(double _Complex *dest,
    const double _Complex *source, int nreduce, int PE_start, int logPE_stride, int PE_size,
    double _Complex *pWrk, long *pSync);
ONESHMEM_COMPLEX void shmem_complexf_sum_to_all(float _Complex *dest, const float _Complex *source,
    int nreduce, int PE_start, int logPE_stride, int PE_size, float _Complex *pWrk, long *pSync);
#endif

/* Computes the product of the `source` arrays of an active set, element by element.
 * Deprecated since 1.5: use shmem_prod_reduce. */
void shmem_short_prod_to_all(short *dest, const short *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, short *pWrk, long *pSync);
void shmem_int_prod_to_all(int *dest, const int *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, int *pWrk, long *pSync);
void shmem_long_prod_to_all(long *dest, const long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long *pWrk, long *pSync);
void shmem_longlong_prod_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_prod_to_all(float *dest, const float *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, float *pWrk, long *pSync);
void shmem_double_prod_to_all(double *dest, const double *source, int nreduce, int PE_start,
    int logPE_stride, int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_prod_to_all(long double *dest, const long double *source, int nreduce,
    int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
#ifdef ONESHMEM_COMPLEX
ONESHMEM_COMPLEX void shmem_complexd_prod_to_all(double _Complex *dest,
    const double _Complex *source, int nreduce, int PE_start, int logPE_stride, int PE_size,
    double _Complex *pWrk, long *pSync);
ONESHMEM_COMPLEX void shmem_complexf_prod_to_all(float _Complex *dest, const float _Complex *source,
    int nreduce, int PE_start, int logPE_stride, int PE_size, float _Complex *pWrk, long *pSync);
#endif

/* Deprecated since 1.5. Type-generic: shmem_wait_until. */
void shmem_short_wait_until(short *ivar, int cmp, short cmp_value);
void shmem_ushort_wait_until(unsigned short *ivar, int cmp, unsigned short cmp_value);

/* Deprecated since 1.4: use shmem_long_wait_until. */
void shmem_wait_until(long *ivar, int cmp, long cmp_value);

/* Waits until `*ivar` differs from `cmp_value`.
 * Deprecated since 1.4: use shmem_wait_until. */
void shmem_short_wait(short *ivar, short cmp_value);
void shmem_int_wait(int *ivar, int cmp_value);
void shmem_long_wait(long *ivar, long cmp_value);
void shmem_longlong_wait(long long *ivar, long long cmp_value);

/* Waits until `*ivar` differs from `cmp_value`.
 * Deprecated since 1.4: use shmem_long_wait_until. */
void shmem_wait(long *ivar, long cmp_value);

/* Deprecated since 1.5. Type-generic: shmem_test. */
int shmem_short_test(short *ivar, int cmp, short cmp_value);
int shmem_ushort_test(unsigned short *ivar, int cmp, unsigned short cmp_value);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_set_cache_inv(void);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_clear_cache_inv(void);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_set_cache_line_inv(void *dest);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_clear_cache_line_inv(void *dest);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_udcflush(void);

/* Does nothing: caches are coherent.
 * Deprecated since 1.3. */
void shmem_udcflush_line(void *dest);

#ifdef SHMEM_PARTITIONS
/* As in shmemx.h, under the names that have been proposed for OpenSHMEM. */
void *shmem_partition_malloc(size_t size, int id);
void *shmem_partition_align(size_t alignment, size_t size, int id);
void *shmem_partition_calloc(size_t count, size_t size, int id);
void shmem_partition_free(void *ptr);
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Routines compiled into the program: see there. */
#if defined(SHMEM_INLINE) && defined(__GNUC__) && defined(__OPTIMIZE__)
#  include "shmem_inline.h"
#endif

/* ---- Type-generic names ---------------------------------------------------------------------- */

#if defined(__cplusplus)
#  include "shmem_overloads.h"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#  include "shmem_generic.h"
#endif

#ifdef Py_PYTHON_H
#  include "shmem_python.h"
#endif

#endif
