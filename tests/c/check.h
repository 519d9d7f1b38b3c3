/*
 * check.h: what the conformance programs share. They are ordinary OpenSHMEM
 * programs; this header only adds
 *
 *   CHECK(condition), CHECK_EQ(got, want)   tell file, line, PE and values, and end the job
 *   RMA_TYPES(X), AMO_STD(X), ...           the type tables: X(TYPENAME, C type) for each row
 *   FAILS("name", "words")          before a statement: a case in which it ends the job with these words
 *   end_of_segment(address)         the first address past its segment
 *   check_random(&state, below)             repeatable random numbers; CHECK_SEED sets the seed
 *
 * The comment lines at a program's top tell the runner how to build and start
 * it; tests/runner/directives.rs describes them.
 */
#ifndef CHECK_H
#define CHECK_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CHECK_PARTITION /* Memory of this partition takes the place of the heap's. */
#  include <shmemx.h>
#  define shmem_malloc(size) shmemx_partition_malloc(size, CHECK_PARTITION)
#  define shmem_calloc(count, size) shmemx_partition_calloc(count, size, CHECK_PARTITION)
#  define shmem_align(alignment, size) shmemx_partition_align(alignment, size, CHECK_PARTITION)
#endif

#define MAX_PES 16 /* the most PEs a program here is started with */

/* ---- checks ---------------------------------------------------------------- */

static inline int check_initialized(void)
{
    int initialized = 0;
    shmem_query_initialized(&initialized);
    return initialized;
}

static inline int check_pe(void)
{
    return check_initialized() ? shmem_my_pe() : -1;
}

static inline void check_end(void)
{
    fflush(stdout);
    if (check_initialized())
        shmem_global_exit(1);
    exit(1);
}

static inline void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: PE %d: failed: %s\n", file, line, check_pe(), what);
    check_end();
}

static inline void check_unequal(const char *file, int line, const char *what, long double got,
                                 long double want)
{
    fprintf(stderr, "%s:%d: PE %d: %s is %.20Lg, expected %.20Lg\n", file, line, check_pe(), what,
            got, want);
    check_end();
}

/* Whether PEs are on several nodes: what is done often is done less often there, where each time waits for messages. */
static inline int check_far(void)
{
    return shmem_team_n_pes(SHMEM_TEAM_SHARED) < shmem_n_pes();
}

static inline int check_rounds(int rounds)
{
    return check_far() ? (rounds + 9) / 10 : rounds;
}

/* The end of the segment that an address is in. */
static inline char *end_of_segment(void *in)
{
    char *at = (char *)((uintptr_t)in & ~(uintptr_t)4095);
    while (shmem_addr_accessible(at, 0))
        at += 4096;
    return at;
}

#define CHECK(condition) \
    ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* The statement of a case, which is the program's argument: it ends the job with an error whose message has
 * these words. The runner makes a case of each; `env=` and `backend=` among the words are as in `// case:` lines. */
#define FAILS(name, words) if (strcmp(argv[1], name) == 0)

/* Compares two numbers of any type; a long double holds every 64-bit integer. */
#define CHECK_EQ(got, want)                                                               \
    do {                                                                                  \
        __typeof__(got) check_got = (got);                                                \
        __typeof__(got) check_want = (__typeof__(got))(want);                             \
        if (!(check_got == check_want))                                                   \
            check_unequal(__FILE__, __LINE__, #got, (long double)check_got,               \
                          (long double)check_want);                                       \
    } while (0)

/* ---- random numbers, the same on every PE for the same state --------------- */

static inline uint64_t check_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The run's seed: CHECK_SEED, which the runner sets and tells when a test fails. */
static inline uint64_t check_seed(void)
{
    const char *text = getenv("CHECK_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

static inline uint64_t check_random(uint64_t *state, uint64_t below)
{
    *state += 1;
    return check_mix(*state) % below;
}

/* ---- type tables ----------------------------------------------------------- */

#define CHECK_NATIVE_UNSIGNED(X)                                                          \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define CHECK_NATIVE_SIGNED(X) X(int, int) X(long, long) X(longlong, long long)
#define CHECK_FIXED_SMALL(X)                                                              \
    X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)
#define CHECK_FIXED_LARGE(X)                                                              \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)

/* rma_std, also the types of the team data movement collectives */
#define RMA_TYPES(X)                                                                      \
    X(float, float) X(double, double) X(longdouble, long double) X(char, char)            \
    X(schar, signed char) X(short, short) CHECK_NATIVE_SIGNED(X) X(uchar, unsigned char)  \
    X(ushort, unsigned short) CHECK_NATIVE_UNSIGNED(X) CHECK_FIXED_SMALL(X)               \
    CHECK_FIXED_LARGE(X) X(size, size_t) X(ptrdiff, ptrdiff_t)

/* amo_std, also the types of wait and test */
#define AMO_STD(X)                                                                        \
    CHECK_NATIVE_SIGNED(X) CHECK_NATIVE_UNSIGNED(X) CHECK_FIXED_LARGE(X)                  \
    X(size, size_t) X(ptrdiff, ptrdiff_t)
#define AMO_EXT(X) X(float, float) X(double, double) AMO_STD(X)
#define AMO_BIT(X) CHECK_NATIVE_UNSIGNED(X) CHECK_FIXED_LARGE(X)

/* reductions and scans over teams */
#define REDUCE_BIT(X)                                                                     \
    X(uchar, unsigned char) X(ushort, unsigned short) CHECK_NATIVE_UNSIGNED(X)            \
    CHECK_FIXED_SMALL(X) CHECK_FIXED_LARGE(X) X(size, size_t)
#define REDUCE_ORDER(X) RMA_TYPES(X) /* max, min: all but complex */
#define REDUCE_ARITHMETIC(X)         /* sum, prod, scans */                               \
    RMA_TYPES(X) X(complexd, double _Complex) X(complexf, float _Complex)

/* reductions over active sets */
#define TO_ALL_BIT(X) X(short, short) CHECK_NATIVE_SIGNED(X)
#define TO_ALL_ORDER(X) \
    TO_ALL_BIT(X) X(float, float) X(double, double) X(longdouble, long double)
#define TO_ALL_ARITHMETIC(X) \
    TO_ALL_ORDER(X) X(complexd, double _Complex) X(complexf, float _Complex)

#define FIXED_SIZES(X) X(8, uint8_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)

#endif
