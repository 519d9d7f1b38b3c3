/* shmem_inline.h - part of shmem.h, for programs compiled with -DSHMEM_INLINE.
 *
 * The routines below are compiled into the program: single elements, puts and gets of a
 * constant number of bytes up to 64 (nbi or not), atomic set, fetch, add and increment, fence and
 * shmem_ptr. Each takes four instructions: a comparison of the address with the end of what can
 * be reached of that PE, a jump if it is not below, the PE's distance, the access. Whatever is not
 * the common case is left to the library: a PE not talked to before, one that does not exist,
 * an address above all symmetric ones, shmem_ptr of static data. Everything else, the forms with
 * a context too, is called as ever.
 *
 * Less is checked than the library checks: of a PE number that is no constant the low 16 bits
 * count, an atomic operation's alignment is the compiler's affair, and an address below the
 * symmetric ones or between them, such as a null pointer or that of a constant, faults, with a
 * message, and is not refused by name.
 *
 * Off by default, because what is compiled in does not go through the library's symbols: a
 * tool that defines these routines to watch a program (see pshmem.h) does not see such calls.
 * It takes GCC or Clang and optimisation; without, the macro changes nothing.
 *
 * @GENERATED@
 */
#ifndef ONESHMEM_SHMEM_INLINE_H
#define ONESHMEM_SHMEM_INLINE_H

#ifdef __cplusplus
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

@HEADING Where a PE's copy of an object is@
/* For every number that the low half of a PE argument can hold. The name has the version of
 * the layout: a library with another one does not link with this header. */
struct oneshmem_reach {
    size_t limit[65536];         /* past this PE's symmetric memory; 0 if there is no such PE, or no copy yet */
    size_t pointer_limit[65536]; /* as limit, for shmem_ptr: all objects below it are symmetric */
    size_t distance[65536];      /* from this PE's memory to the copy of that PE's, and ONESHMEM_ONE */
};
extern const struct oneshmem_reach *const oneshmem_reach_2;

#define ONESHMEM_HERE extern __inline__ __attribute__((__always_inline__, __gnu_inline__))
/* As a call does it: what comes before stays before, and memory may have changed. */
#define ONESHMEM_BARRIER() __asm__ volatile("" : : : "memory")

/* A load that stays before later ones. On x86-64 each does, and a plain one can be part of a comparison. There,
 * an address that is the sum of two registers may have a constant, too, so the distances serve shmem_ptr. */
#if defined(__x86_64__)
#define ONESHMEM_LOAD(word) (word)
#define ONESHMEM_ONE 1
#else
#define ONESHMEM_LOAD(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define ONESHMEM_ONE 0
#endif

/* A constant that no PE has for its number. */
#define ONESHMEM_SURELY_NONE(pe) (__builtin_constant_p(pe) && (unsigned)(pe) > 65535)

/* Whether an address is below PE `pe`'s limit: then its distance can be read, too. */
ONESHMEM_HERE int oneshmem_below(const size_t *limits, size_t address, int pe)
{
    if (ONESHMEM_SURELY_NONE(pe) || __builtin_expect(address >= ONESHMEM_LOAD(limits[(unsigned short)pe]), 0))
        return 0;
    ONESHMEM_BARRIER(); /* the distance is written before the limit, by whichever thread */
    return 1;
}

/* Sets `*there` to where PE `pe`'s copy of `own` is, and is true, in the common case. */
ONESHMEM_HERE int oneshmem_there(const void *own, int pe, char **there)
{
    if (!oneshmem_below(oneshmem_reach_2->limit, (size_t)own, pe))
        return 0;
    *there = (char *)((size_t)own + oneshmem_reach_2->distance[(unsigned short)pe] - ONESHMEM_ONE);
    return 1;
}

/* The library's routine, by its profiling name: Clang compiles in no function that calls itself by its own. */
#define ONESHMEM_OUTSIDE(ret, routine, parameters) \
    extern ret oneshmem_##routine parameters __asm__("pshmem_" #routine)

@HEADING Single elements@
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

@SINGLE@
@HEADING Few elements@
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

@FEW@
@HEADING Atomic operations@
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

@ATOMICS@
@HEADING Order and pointers@
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
    return (void *)((ONESHMEM_ONE ? before : (size_t)dest) + oneshmem_reach_2->distance[(unsigned short)pe]);
}

#undef ONESHMEM_SINGLE
#undef ONESHMEM_FEW
#undef ONESHMEM_SET_AND_FETCH
#undef ONESHMEM_ADD

#ifdef __cplusplus
} /* extern "C" */
#  pragma GCC diagnostic pop
#endif
#endif
