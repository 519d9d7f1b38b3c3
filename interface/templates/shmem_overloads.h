/* shmem_overloads.h - the type-generic names for C++; part of shmem.h.
 *
 * An extension: shmem_put(dest, source, nelems, pe) calls the shmem_TYPENAME_put that fits the
 * type of `*dest`, as in C11; with a context as first argument it calls the shmem_ctx_TYPENAME_put.
 *
 * @GENERATED@
 */

#ifdef ONESHMEM_COMPLEX
#  define ONESHMEM_INLINE ONESHMEM_COMPLEX inline
#else
#  define ONESHMEM_INLINE inline
#endif

/* Also for programs that include shmem.h inside extern "C" { }. */
extern "C++" {

@OVERLOADS@
} /* extern "C++" */
