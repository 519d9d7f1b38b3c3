/* shmemx.h - extensions to OpenSHMEM; their names start with shmemx_. */
#ifndef ONESHMEM_SHMEMX_H
#define ONESHMEM_SHMEMX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which algorithm the collective operation "barrier" (and sync), "broadcast", "collect",
 * "fcollect", "alltoall", "alltoalls", "reduce" or "scan" runs from now on: one of those
 * that SHMEM_BARRIER_ALGORITHM and so on can name (`oshinfo` lists them), or "auto" for
 * the quickest by the tuning table. All PEs call it at the same point between collectives.
 * Returns 0, or 1 if there is no such operation or algorithm. */
int shmemx_set_algorithm(const char *operation, const char *algorithm);

#ifdef __cplusplus
}
#endif

#endif
