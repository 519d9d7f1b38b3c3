/* shmem_overloads.h - the type-generic names for C++; part of shmem.h.
 *
 * An extension: shmem_put(dest, source, nelems, pe) calls the shmem_TYPENAME_put that fits the
 * type of `*dest`, as in C11; with a context as first argument it calls the shmem_ctx_TYPENAME_put.
 * Routines of complex types also take std::complex, where <complex> has been included before.
 *
 * @GENERATED@
 */

#ifdef ONESHMEM_COMPLEX
#  define ONESHMEM_INLINE ONESHMEM_COMPLEX inline
#else
#  define ONESHMEM_INLINE inline
#endif
/* Headers of C++'s libraries, by which they know that <complex> has been included. */
#if defined(ONESHMEM_COMPLEX) && (defined(_GLIBCXX_COMPLEX) || defined(_LIBCPP_COMPLEX))
#  define ONESHMEM_STD_COMPLEX
#endif

/* Also for programs that include shmem.h inside extern "C" { }. */
extern "C++" {

@OVERLOADS@
} /* extern "C++" */
