/* pshmem.h - the profiling interface: a second name for every routine.
 *
 * A tool defines a routine of shmem.h itself and calls the library's by its name with a p in
 * front: pshmem_put64 for shmem_put64, pstart_pes for start_pes.
 *
 * @GENERATED@
 */
#ifndef ONESHMEM_PSHMEM_H
#define ONESHMEM_PSHMEM_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

@TWINS@
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
