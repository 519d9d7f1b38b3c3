/* shmemx.h - extensions to OpenSHMEM; their names start with shmemx_.
 *
 * This version has none.
 */
#ifndef ONESHMEM_SHMEMX_H
#define ONESHMEM_SHMEMX_H

#include "shmem.h"

#endif
