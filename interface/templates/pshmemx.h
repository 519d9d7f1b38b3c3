/* pshmemx.h - the profiling interface of the extensions: pshmemx_wtime for shmemx_wtime. See pshmem.h.
 *
 * @GENERATED@
 */
#ifndef ONESHMEM_PSHMEMX_H
#define ONESHMEM_PSHMEMX_H

#include "shmemx.h"

#ifdef __cplusplus
extern "C" {
#endif

@TWINS@
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
