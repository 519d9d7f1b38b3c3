/* Every header, twice, in an order in which each has to stand for itself. */
#include "pshmem.h"
#include "shmemx.h"
#include "mpp/pshmem.h"
#include "mpp/shmemx.h"
#include "mpp/shmem.h"
#include "shmem.h"
#include "pshmem.h"
