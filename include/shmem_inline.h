/* shmem_inline.h - part of shmem.h, for programs compiled with -DSHMEM_INLINE.
 *
 * The routines below are compiled into the program: single elements, puts and gets of a
 * constant number of bytes up to 64, atomic set, fetch, add and increment, fence and
 * shmem_ptr. They make the library's own checks, and whatever is not the common case is left
 * to the library: a PE not talked to before, and every mistake. Everything else, the forms
 * with a context too, is called as ever.
 *
 * Off by default, because what is compiled in does not go through the library's symbols: a
 * tool that defines these routines to watch a program (see pshmem.h) does not see such calls.
 * It takes GCC or Clang and optimisation; without, the macro changes nothing.
 *
 * Generated from interface/routines.txt and interface/constants.txt by `make headers`.
 */
#ifndef ONESHMEM_SHMEM_INLINE_H
#define ONESHMEM_SHMEM_INLINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Where a PE's copy of an object is ------------------------------------------------------- */

/* What the library looks at too; it never changes while operations run, except that PEs are
 * added. The names end with the version of the layout: a library with another one does not
 * link with this header. */
#ifdef ONESHMEM_SMARTMAP
struct oneshmem_bits {
    size_t end;  /* past this PE's symmetric memory; 0 until every PE can be reached */
    size_t npes; /* PEs in the job */
};
extern const struct oneshmem_bits *const oneshmem_bits_1;
#else
struct oneshmem_table {
    size_t origin;       /* one byte below this PE's symmetric memory */
    size_t span;         /* its bytes, and one; 0 while the library is not initialised */
    size_t npes, upper, lower_end;
    size_t pointer_span; /* as span, for shmem_ptr */
    size_t base[4096];   /* one byte below each PE's copy of it here; all ones if there is none */
};
extern const struct oneshmem_table *const oneshmem_table_1;
#endif

#define ONESHMEM_HERE extern __inline__ __attribute__((__always_inline__, __gnu_inline__))
/* As a call does it: what comes before stays before, and memory may have changed. */
#define ONESHMEM_BARRIER() __asm__ volatile("" : : : "memory")

/* Sets `*there` to where PE `pe`'s copy of `own` is, and is true, in the common case. */
#ifdef ONESHMEM_SMARTMAP
ONESHMEM_HERE int oneshmem_there(const void *own, int pe, char **there)
{
    const struct oneshmem_bits *bits = oneshmem_bits_1;
    if (__builtin_expect((size_t)own >= bits->end, 0) || __builtin_expect((unsigned)pe >= bits->npes, 0))
        return 0;
    *there = (char *)((size_t)own + (((size_t)(unsigned)pe + 1) << 39));
    return 1;
}
#else
ONESHMEM_HERE int oneshmem_within(size_t span, const void *own, int pe, char **there)
{
    const struct oneshmem_table *table = oneshmem_table_1;
    size_t at = (size_t)own - table->origin;
    if (__builtin_expect(at >= span, 0) || __builtin_expect((unsigned)pe >= sizeof table->base / sizeof *table->base, 0))
        return 0;
    /* Carries if there is no copy (yet), or no such PE. */
    if (__builtin_expect(__builtin_add_overflow(at, table->base[(unsigned)pe], &at), 0))
        return 0;
    *there = (char *)at;
    return 1;
}
ONESHMEM_HERE int oneshmem_there(const void *own, int pe, char **there)
{
    return oneshmem_within(oneshmem_table_1->span, own, pe, there);
}
#endif

/* The library's routine of the name. */
#define ONESHMEM_OUTSIDE(ret, routine, parameters) \
    extern ret oneshmem_##routine parameters __asm__("shmem_" #routine)

/* ---- Single elements ------------------------------------------------------------------------- */

#define ONESHMEM_SINGLE(TYPENAME, TYPE)                                     \
    ONESHMEM_OUTSIDE(void, TYPENAME##_p, (TYPE *, TYPE, int));              \
    ONESHMEM_HERE void shmem_##TYPENAME##_p(TYPE *dest, TYPE value, int pe) \
    {                                                                       \
        char *there;                                                        \
        if (oneshmem_there(dest, pe, &there))                               \
            __builtin_memcpy(there, &value, sizeof value);                  \
        else                                                                \
            oneshmem_##TYPENAME##_p(dest, value, pe);                       \
        ONESHMEM_BARRIER();                                                 \
    }                                                                       \
    ONESHMEM_OUTSIDE(TYPE, TYPENAME##_g, (const TYPE *, int));              \
    ONESHMEM_HERE TYPE shmem_##TYPENAME##_g(const TYPE *source, int pe)     \
    {                                                                       \
        char *there;                                                        \
        TYPE value;                                                         \
        ONESHMEM_BARRIER();                                                 \
        if (oneshmem_there(source, pe, &there))                             \
            __builtin_memcpy(&value, there, sizeof value);                  \
        else                                                                \
            value = oneshmem_##TYPENAME##_g(source, pe);                    \
        return value;                                                       \
    }

ONESHMEM_SINGLE(float, float)
ONESHMEM_SINGLE(double, double)
ONESHMEM_SINGLE(longdouble, long double)
ONESHMEM_SINGLE(char, char)
ONESHMEM_SINGLE(schar, signed char)
ONESHMEM_SINGLE(short, short)
ONESHMEM_SINGLE(int, int)
ONESHMEM_SINGLE(long, long)
ONESHMEM_SINGLE(longlong, long long)
ONESHMEM_SINGLE(uchar, unsigned char)
ONESHMEM_SINGLE(ushort, unsigned short)
ONESHMEM_SINGLE(uint, unsigned int)
ONESHMEM_SINGLE(ulong, unsigned long)
ONESHMEM_SINGLE(ulonglong, unsigned long long)
ONESHMEM_SINGLE(int8, int8_t)
ONESHMEM_SINGLE(int16, int16_t)
ONESHMEM_SINGLE(int32, int32_t)
ONESHMEM_SINGLE(int64, int64_t)
ONESHMEM_SINGLE(uint8, uint8_t)
ONESHMEM_SINGLE(uint16, uint16_t)
ONESHMEM_SINGLE(uint32, uint32_t)
ONESHMEM_SINGLE(uint64, uint64_t)
ONESHMEM_SINGLE(size, size_t)
ONESHMEM_SINGLE(ptrdiff, ptrdiff_t)
/* ---- Few elements ---------------------------------------------------------------------------- */

#define ONESHMEM_FEW(PUT, GET, TYPE, BYTES)                                                               \
    ONESHMEM_OUTSIDE(void, PUT, (TYPE *, const TYPE *, size_t, int));                                     \
    ONESHMEM_HERE void shmem_##PUT(TYPE *dest, const TYPE *source, size_t nelems, int pe)                 \
    {                                                                                                     \
        char *there;                                                                                      \
        if (__builtin_constant_p(nelems) && nelems <= 64 / (BYTES) && oneshmem_there(dest, pe, &there))   \
            __builtin_memcpy(there, source, nelems * (BYTES));                                            \
        else                                                                                              \
            oneshmem_##PUT(dest, source, nelems, pe);                                                     \
        ONESHMEM_BARRIER();                                                                               \
    }                                                                                                     \
    ONESHMEM_OUTSIDE(void, GET, (TYPE *, const TYPE *, size_t, int));                                     \
    ONESHMEM_HERE void shmem_##GET(TYPE *dest, const TYPE *source, size_t nelems, int pe)                 \
    {                                                                                                     \
        char *there;                                                                                      \
        ONESHMEM_BARRIER();                                                                               \
        if (__builtin_constant_p(nelems) && nelems <= 64 / (BYTES) && oneshmem_there(source, pe, &there)) \
            __builtin_memcpy(dest, there, nelems * (BYTES));                                              \
        else                                                                                              \
            oneshmem_##GET(dest, source, nelems, pe);                                                     \
    }

ONESHMEM_FEW(float_put, float_get, float, sizeof(float))
ONESHMEM_FEW(double_put, double_get, double, sizeof(double))
ONESHMEM_FEW(longdouble_put, longdouble_get, long double, sizeof(long double))
ONESHMEM_FEW(char_put, char_get, char, sizeof(char))
ONESHMEM_FEW(schar_put, schar_get, signed char, sizeof(signed char))
ONESHMEM_FEW(short_put, short_get, short, sizeof(short))
ONESHMEM_FEW(int_put, int_get, int, sizeof(int))
ONESHMEM_FEW(long_put, long_get, long, sizeof(long))
ONESHMEM_FEW(longlong_put, longlong_get, long long, sizeof(long long))
ONESHMEM_FEW(uchar_put, uchar_get, unsigned char, sizeof(unsigned char))
ONESHMEM_FEW(ushort_put, ushort_get, unsigned short, sizeof(unsigned short))
ONESHMEM_FEW(uint_put, uint_get, unsigned int, sizeof(unsigned int))
ONESHMEM_FEW(ulong_put, ulong_get, unsigned long, sizeof(unsigned long))
ONESHMEM_FEW(ulonglong_put, ulonglong_get, unsigned long long, sizeof(unsigned long long))
ONESHMEM_FEW(int8_put, int8_get, int8_t, sizeof(int8_t))
ONESHMEM_FEW(int16_put, int16_get, int16_t, sizeof(int16_t))
ONESHMEM_FEW(int32_put, int32_get, int32_t, sizeof(int32_t))
ONESHMEM_FEW(int64_put, int64_get, int64_t, sizeof(int64_t))
ONESHMEM_FEW(uint8_put, uint8_get, uint8_t, sizeof(uint8_t))
ONESHMEM_FEW(uint16_put, uint16_get, uint16_t, sizeof(uint16_t))
ONESHMEM_FEW(uint32_put, uint32_get, uint32_t, sizeof(uint32_t))
ONESHMEM_FEW(uint64_put, uint64_get, uint64_t, sizeof(uint64_t))
ONESHMEM_FEW(size_put, size_get, size_t, sizeof(size_t))
ONESHMEM_FEW(ptrdiff_put, ptrdiff_get, ptrdiff_t, sizeof(ptrdiff_t))
ONESHMEM_FEW(put8, get8, void, 1)
ONESHMEM_FEW(put16, get16, void, 2)
ONESHMEM_FEW(put32, get32, void, 4)
ONESHMEM_FEW(put64, get64, void, 8)
ONESHMEM_FEW(put128, get128, void, 16)
ONESHMEM_FEW(putmem, getmem, void, 1)
/* ---- Atomic operations ----------------------------------------------------------------------- */

#define ONESHMEM_ALIGNED(own, TYPE) __builtin_expect((size_t)(own) % sizeof(TYPE) == 0, 1)

#define ONESHMEM_SET_AND_FETCH(TYPENAME, TYPE)                                       \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_set, (TYPE *, TYPE, int));              \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_set(TYPE *dest, TYPE value, int pe) \
    {                                                                                \
        char *there;                                                                 \
        if (oneshmem_there(dest, pe, &there) && ONESHMEM_ALIGNED(dest, TYPE))        \
            __atomic_store((TYPE *)(void *)there, &value, __ATOMIC_RELEASE);         \
        else                                                                         \
            oneshmem_##TYPENAME##_atomic_set(dest, value, pe);                       \
        ONESHMEM_BARRIER();                                                          \
    }                                                                                \
    ONESHMEM_OUTSIDE(TYPE, TYPENAME##_atomic_fetch, (const TYPE *, int));            \
    ONESHMEM_HERE TYPE shmem_##TYPENAME##_atomic_fetch(const TYPE *source, int pe)   \
    {                                                                                \
        char *there;                                                                 \
        TYPE value;                                                                  \
        ONESHMEM_BARRIER();                                                          \
        if (oneshmem_there(source, pe, &there) && ONESHMEM_ALIGNED(source, TYPE))    \
            __atomic_load((TYPE *)(void *)there, &value, __ATOMIC_ACQUIRE);          \
        else                                                                         \
            value = oneshmem_##TYPENAME##_atomic_fetch(source, pe);                  \
        return value;                                                                \
    }

#define ONESHMEM_ADD(TYPENAME, TYPE)                                                       \
    ONESHMEM_OUTSIDE(TYPE, TYPENAME##_atomic_fetch_add, (TYPE *, TYPE, int));              \
    ONESHMEM_HERE TYPE shmem_##TYPENAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe) \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there) && ONESHMEM_ALIGNED(dest, TYPE))              \
            return __atomic_fetch_add((TYPE *)(void *)there, value, __ATOMIC_ACQ_REL);     \
        return oneshmem_##TYPENAME##_atomic_fetch_add(dest, value, pe);                    \
    }                                                                                      \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_add, (TYPE *, TYPE, int));                    \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_add(TYPE *dest, TYPE value, int pe)       \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there) && ONESHMEM_ALIGNED(dest, TYPE))              \
            (void)__atomic_fetch_add((TYPE *)(void *)there, value, __ATOMIC_ACQ_REL);      \
        else                                                                               \
            oneshmem_##TYPENAME##_atomic_add(dest, value, pe);                             \
    }                                                                                      \
    ONESHMEM_OUTSIDE(TYPE, TYPENAME##_atomic_fetch_inc, (TYPE *, int));                    \
    ONESHMEM_HERE TYPE shmem_##TYPENAME##_atomic_fetch_inc(TYPE *dest, int pe)             \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there) && ONESHMEM_ALIGNED(dest, TYPE))              \
            return __atomic_fetch_add((TYPE *)(void *)there, 1, __ATOMIC_ACQ_REL);         \
        return oneshmem_##TYPENAME##_atomic_fetch_inc(dest, pe);                           \
    }                                                                                      \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_inc, (TYPE *, int));                          \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_inc(TYPE *dest, int pe)                   \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there) && ONESHMEM_ALIGNED(dest, TYPE))              \
            (void)__atomic_fetch_add((TYPE *)(void *)there, 1, __ATOMIC_ACQ_REL);          \
        else                                                                               \
            oneshmem_##TYPENAME##_atomic_inc(dest, pe);                                    \
    }

ONESHMEM_SET_AND_FETCH(float, float)
ONESHMEM_SET_AND_FETCH(double, double)
ONESHMEM_SET_AND_FETCH(int, int)
ONESHMEM_SET_AND_FETCH(long, long)
ONESHMEM_SET_AND_FETCH(longlong, long long)
ONESHMEM_SET_AND_FETCH(uint, unsigned int)
ONESHMEM_SET_AND_FETCH(ulong, unsigned long)
ONESHMEM_SET_AND_FETCH(ulonglong, unsigned long long)
ONESHMEM_SET_AND_FETCH(int32, int32_t)
ONESHMEM_SET_AND_FETCH(int64, int64_t)
ONESHMEM_SET_AND_FETCH(uint32, uint32_t)
ONESHMEM_SET_AND_FETCH(uint64, uint64_t)
ONESHMEM_SET_AND_FETCH(size, size_t)
ONESHMEM_SET_AND_FETCH(ptrdiff, ptrdiff_t)
ONESHMEM_ADD(int, int)
ONESHMEM_ADD(long, long)
ONESHMEM_ADD(longlong, long long)
ONESHMEM_ADD(uint, unsigned int)
ONESHMEM_ADD(ulong, unsigned long)
ONESHMEM_ADD(ulonglong, unsigned long long)
ONESHMEM_ADD(int32, int32_t)
ONESHMEM_ADD(int64, int64_t)
ONESHMEM_ADD(uint32, uint32_t)
ONESHMEM_ADD(uint64, uint64_t)
ONESHMEM_ADD(size, size_t)
ONESHMEM_ADD(ptrdiff, ptrdiff_t)
/* ---- Order and pointers ---------------------------------------------------------------------- */

ONESHMEM_HERE void shmem_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

#ifndef ONESHMEM_SMARTMAP
ONESHMEM_OUTSIDE(void *, ptr, (const void *, int));
ONESHMEM_HERE void *shmem_ptr(const void *dest, int pe)
{
    char *there;
    if (oneshmem_within(oneshmem_table_1->pointer_span, dest, pe, &there))
        return there;
    return oneshmem_ptr(dest, pe);
}
#endif

#undef ONESHMEM_SINGLE
#undef ONESHMEM_FEW
#undef ONESHMEM_SET_AND_FETCH
#undef ONESHMEM_ADD

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
