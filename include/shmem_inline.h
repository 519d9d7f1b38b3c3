/* shmem_inline.h - part of shmem.h, for programs compiled with -DSHMEM_INLINE.
 *
 * The routines below are compiled into the program: single elements, puts and gets of a
 * constant number of bytes up to 64 (nbi or not), atomic set, fetch, add and increment, fence and
 * shmem_ptr. Each takes four instructions: a comparison of the address with the end of what can
 * be reached of that PE, a jump if it is not below, the PE's distance, the access. Whatever is not
 * the common case is left to the library: a PE not talked to before, one that does not exist,
 * an address above all symmetric ones. Everything else, the forms with a context too, is called
 * as ever.
 *
 * Less is checked than the library checks: of a PE number that is no constant the low 16 bits
 * count, an atomic operation's alignment is the compiler's affair, and an address below the
 * symmetric ones, such as a null pointer, faults, with a message, and is not refused by name.
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

/* For every number that the low half of a PE argument can hold. The name has the version of
 * the layout: a library with another one does not link with this header. */
struct oneshmem_reach {
    size_t limit[65536];         /* past this PE's symmetric memory; 0 if there is no such PE, or no copy yet */
    size_t pointer_limit[65536]; /* as limit, for shmem_ptr */
    size_t distance[65536];      /* from this PE's memory to the copy of that PE's, and one */
};
extern const struct oneshmem_reach *const oneshmem_reach_2;

#define ONESHMEM_HERE extern __inline__ __attribute__((__always_inline__, __gnu_inline__))
/* As a call does it: what comes before stays before, and memory may have changed. */
#define ONESHMEM_BARRIER() __asm__ volatile("" : : : "memory")

/* A constant that no PE has for its number. */
#define ONESHMEM_SURELY_NONE(pe) (__builtin_constant_p(pe) && (unsigned)(pe) > 65535)

/* Whether an address is below PE `pe`'s limit: then its distance can be read, too. */
ONESHMEM_HERE int oneshmem_below(const size_t *limits, size_t address, int pe)
{
    if (ONESHMEM_SURELY_NONE(pe) || __builtin_expect(address >= limits[(unsigned short)pe], 0))
        return 0;
    ONESHMEM_BARRIER(); /* the distance is written before the limit, by whichever thread */
    return 1;
}

/* Sets `*there` to where PE `pe`'s copy of `own` is, and is true, in the common case. */
ONESHMEM_HERE int oneshmem_there(const void *own, int pe, char **there)
{
    if (!oneshmem_below(oneshmem_reach_2->limit, (size_t)own, pe))
        return 0;
    *there = (char *)((size_t)own + oneshmem_reach_2->distance[(unsigned short)pe] - 1);
    return 1;
}

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
ONESHMEM_FEW(float_put_nbi, float_get_nbi, float, sizeof(float))
ONESHMEM_FEW(double_put, double_get, double, sizeof(double))
ONESHMEM_FEW(double_put_nbi, double_get_nbi, double, sizeof(double))
ONESHMEM_FEW(longdouble_put, longdouble_get, long double, sizeof(long double))
ONESHMEM_FEW(longdouble_put_nbi, longdouble_get_nbi, long double, sizeof(long double))
ONESHMEM_FEW(char_put, char_get, char, sizeof(char))
ONESHMEM_FEW(char_put_nbi, char_get_nbi, char, sizeof(char))
ONESHMEM_FEW(schar_put, schar_get, signed char, sizeof(signed char))
ONESHMEM_FEW(schar_put_nbi, schar_get_nbi, signed char, sizeof(signed char))
ONESHMEM_FEW(short_put, short_get, short, sizeof(short))
ONESHMEM_FEW(short_put_nbi, short_get_nbi, short, sizeof(short))
ONESHMEM_FEW(int_put, int_get, int, sizeof(int))
ONESHMEM_FEW(int_put_nbi, int_get_nbi, int, sizeof(int))
ONESHMEM_FEW(long_put, long_get, long, sizeof(long))
ONESHMEM_FEW(long_put_nbi, long_get_nbi, long, sizeof(long))
ONESHMEM_FEW(longlong_put, longlong_get, long long, sizeof(long long))
ONESHMEM_FEW(longlong_put_nbi, longlong_get_nbi, long long, sizeof(long long))
ONESHMEM_FEW(uchar_put, uchar_get, unsigned char, sizeof(unsigned char))
ONESHMEM_FEW(uchar_put_nbi, uchar_get_nbi, unsigned char, sizeof(unsigned char))
ONESHMEM_FEW(ushort_put, ushort_get, unsigned short, sizeof(unsigned short))
ONESHMEM_FEW(ushort_put_nbi, ushort_get_nbi, unsigned short, sizeof(unsigned short))
ONESHMEM_FEW(uint_put, uint_get, unsigned int, sizeof(unsigned int))
ONESHMEM_FEW(uint_put_nbi, uint_get_nbi, unsigned int, sizeof(unsigned int))
ONESHMEM_FEW(ulong_put, ulong_get, unsigned long, sizeof(unsigned long))
ONESHMEM_FEW(ulong_put_nbi, ulong_get_nbi, unsigned long, sizeof(unsigned long))
ONESHMEM_FEW(ulonglong_put, ulonglong_get, unsigned long long, sizeof(unsigned long long))
ONESHMEM_FEW(ulonglong_put_nbi, ulonglong_get_nbi, unsigned long long, sizeof(unsigned long long))
ONESHMEM_FEW(int8_put, int8_get, int8_t, sizeof(int8_t))
ONESHMEM_FEW(int8_put_nbi, int8_get_nbi, int8_t, sizeof(int8_t))
ONESHMEM_FEW(int16_put, int16_get, int16_t, sizeof(int16_t))
ONESHMEM_FEW(int16_put_nbi, int16_get_nbi, int16_t, sizeof(int16_t))
ONESHMEM_FEW(int32_put, int32_get, int32_t, sizeof(int32_t))
ONESHMEM_FEW(int32_put_nbi, int32_get_nbi, int32_t, sizeof(int32_t))
ONESHMEM_FEW(int64_put, int64_get, int64_t, sizeof(int64_t))
ONESHMEM_FEW(int64_put_nbi, int64_get_nbi, int64_t, sizeof(int64_t))
ONESHMEM_FEW(uint8_put, uint8_get, uint8_t, sizeof(uint8_t))
ONESHMEM_FEW(uint8_put_nbi, uint8_get_nbi, uint8_t, sizeof(uint8_t))
ONESHMEM_FEW(uint16_put, uint16_get, uint16_t, sizeof(uint16_t))
ONESHMEM_FEW(uint16_put_nbi, uint16_get_nbi, uint16_t, sizeof(uint16_t))
ONESHMEM_FEW(uint32_put, uint32_get, uint32_t, sizeof(uint32_t))
ONESHMEM_FEW(uint32_put_nbi, uint32_get_nbi, uint32_t, sizeof(uint32_t))
ONESHMEM_FEW(uint64_put, uint64_get, uint64_t, sizeof(uint64_t))
ONESHMEM_FEW(uint64_put_nbi, uint64_get_nbi, uint64_t, sizeof(uint64_t))
ONESHMEM_FEW(size_put, size_get, size_t, sizeof(size_t))
ONESHMEM_FEW(size_put_nbi, size_get_nbi, size_t, sizeof(size_t))
ONESHMEM_FEW(ptrdiff_put, ptrdiff_get, ptrdiff_t, sizeof(ptrdiff_t))
ONESHMEM_FEW(ptrdiff_put_nbi, ptrdiff_get_nbi, ptrdiff_t, sizeof(ptrdiff_t))
ONESHMEM_FEW(put8, get8, void, 1)
ONESHMEM_FEW(put8_nbi, get8_nbi, void, 1)
ONESHMEM_FEW(put16, get16, void, 2)
ONESHMEM_FEW(put16_nbi, get16_nbi, void, 2)
ONESHMEM_FEW(put32, get32, void, 4)
ONESHMEM_FEW(put32_nbi, get32_nbi, void, 4)
ONESHMEM_FEW(put64, get64, void, 8)
ONESHMEM_FEW(put64_nbi, get64_nbi, void, 8)
ONESHMEM_FEW(put128, get128, void, 16)
ONESHMEM_FEW(put128_nbi, get128_nbi, void, 16)
ONESHMEM_FEW(putmem, getmem, void, 1)
ONESHMEM_FEW(putmem_nbi, getmem_nbi, void, 1)
/* ---- Atomic operations ----------------------------------------------------------------------- */

#define ONESHMEM_SET_AND_FETCH(TYPENAME, TYPE)                                       \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_set, (TYPE *, TYPE, int));              \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_set(TYPE *dest, TYPE value, int pe) \
    {                                                                                \
        char *there;                                                                 \
        if (oneshmem_there(dest, pe, &there))                                        \
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
        if (oneshmem_there(source, pe, &there))                                      \
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
        if (oneshmem_there(dest, pe, &there))                                              \
            return __atomic_fetch_add((TYPE *)(void *)there, value, __ATOMIC_ACQ_REL);     \
        return oneshmem_##TYPENAME##_atomic_fetch_add(dest, value, pe);                    \
    }                                                                                      \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_add, (TYPE *, TYPE, int));                    \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_add(TYPE *dest, TYPE value, int pe)       \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there))                                              \
            (void)__atomic_fetch_add((TYPE *)(void *)there, value, __ATOMIC_ACQ_REL);      \
        else                                                                               \
            oneshmem_##TYPENAME##_atomic_add(dest, value, pe);                             \
    }                                                                                      \
    ONESHMEM_OUTSIDE(TYPE, TYPENAME##_atomic_fetch_inc, (TYPE *, int));                    \
    ONESHMEM_HERE TYPE shmem_##TYPENAME##_atomic_fetch_inc(TYPE *dest, int pe)             \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there))                                              \
            return __atomic_fetch_add((TYPE *)(void *)there, 1, __ATOMIC_ACQ_REL);         \
        return oneshmem_##TYPENAME##_atomic_fetch_inc(dest, pe);                           \
    }                                                                                      \
    ONESHMEM_OUTSIDE(void, TYPENAME##_atomic_inc, (TYPE *, int));                          \
    ONESHMEM_HERE void shmem_##TYPENAME##_atomic_inc(TYPE *dest, int pe)                   \
    {                                                                                      \
        char *there;                                                                       \
        if (oneshmem_there(dest, pe, &there))                                              \
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

ONESHMEM_OUTSIDE(void *, ptr, (const void *, int));
ONESHMEM_HERE void *shmem_ptr(const void *dest, int pe)
{
    size_t before = (size_t)dest - 1; /* a null pointer is beyond every limit */
    if (!oneshmem_below(oneshmem_reach_2->pointer_limit, before, pe))
        return oneshmem_ptr(dest, pe);
    return (void *)(before + oneshmem_reach_2->distance[(unsigned short)pe]);
}

#undef ONESHMEM_SINGLE
#undef ONESHMEM_FEW
#undef ONESHMEM_SET_AND_FETCH
#undef ONESHMEM_ADD

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
