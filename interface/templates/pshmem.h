/* pshmem.h - the profiling interface: a second name for every routine.
 *
 * A tool defines a routine of shmem.h itself and calls the library's by its name with a p in
 * front: pshmem_put64 for shmem_put64, pstart_pes for start_pes. This header declares the second names
 * only, and types and constants, so that a tool may define the others as it likes.
 *
 * @GENERATED@
 */
#ifndef ONESHMEM_PSHMEM_H
#define ONESHMEM_PSHMEM_H

#ifndef ONESHMEM_TYPES_H
#  define ONESHMEM_TYPES_ONLY
#  include "shmem.h"
#  undef ONESHMEM_TYPES_ONLY
#endif

#ifdef __cplusplus
extern "C" {
#endif

@TWINS@
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
