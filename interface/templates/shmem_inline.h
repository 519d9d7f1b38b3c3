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
 * @GENERATED@
 */
#ifndef ONESHMEM_SHMEM_INLINE_H
#define ONESHMEM_SHMEM_INLINE_H

#ifdef __cplusplus
extern "C" {
#endif

@HEADING Where a PE's copy of an object is@
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

@ATOMICS@
@HEADING Order and pointers@
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
