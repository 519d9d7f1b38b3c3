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

/* Seconds since a point in the past that stays the same while the machine runs, and is the same for
 * all PEs on it: the system's monotonic clock, in nanoseconds. May be called at any time. */
double shmemx_wtime(void);

/* Whether the symmetric heap, and the partitions that are not on devices, have the same addresses on all PEs, so
 * that a pointer into them means the same everywhere: 1 or 0. Waits until all PEs have initialised. */
int shmemx_equal_addresses(void);

/* All-to-all of blocks of any length; over an active set, as in Cray SHMEM. PE `i` of the team or active set gets the s_sizes[i] bytes of
 * `source` from byte s_offsets[i] on. What comes from PE `i` goes to `dest` from byte t_offsets[i] on, and
 * t_sizes[i] gets its length. `dest`, `source`, `s_offsets` and `s_sizes` are symmetric.
 * The first form returns 0. */
int shmemx_alltoallvmem(shmem_team_t team, void *dest, const size_t *t_offsets, size_t *t_sizes,
                        const void *source, const size_t *s_offsets, const size_t *s_sizes);
void shmemx_alltoallv(void *dest, const size_t *t_offsets, size_t *t_sizes, const void *source,
                      const size_t *s_offsets, const size_t *s_sizes, int PE_start,
                      int logPE_stride, int PE_size, long *pSync);

/* The elements of their pSync, under the name that Cray SHMEM has for it. */
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE

/* Partitions: symmetric memory beside the heap. SHMEM_SYMMETRIC_PARTITION<id>=<size>[:KIND=...]
 * in the environment of all PEs asks for one; oneshmem-partitions(7) has the details. All routines
 * take a partition's memory like the heap's, shmem_free and shmem_realloc, too. */

/* As shmem_malloc, shmem_align, shmem_calloc and shmem_free, collective like those, with memory
 * of partition `id`: a null pointer on all PEs if it has no room or does not exist. */
void *shmemx_partition_malloc(size_t size, int id);
void *shmemx_partition_align(size_t alignment, size_t size, int id);
void *shmemx_partition_calloc(size_t count, size_t size, int id);
void shmemx_partition_free(void *ptr);

/* The same on the calling PE alone, without a barrier: what all PEs take and give back in the
 * same order is symmetric. For runtimes that allocate on behalf of a program. */
void *shmemx_partition_take(size_t size, int id);
void shmemx_partition_give(void *ptr);

/* The partition that `ptr` lies in; -1 in the symmetric heap or the data segment; -2 if it is
 * not symmetric. */
int shmemx_partition_of(const void *ptr);

/* What can be done with a partition's memory: put and get; collectives; atomic operations and
 * signals; load and store, as by shmem_ptr. */
#define SHMEMX_PARTITION_RMA 1ULL
#define SHMEMX_PARTITION_COLLECTIVES 2ULL
#define SHMEMX_PARTITION_ATOMICS 4ULL
#define SHMEMX_PARTITION_LOAD_STORE 8ULL

typedef struct {
    int id;                  /* the partition's number */
    int device;              /* number of the device that DEVICE names; -1: none */
    size_t size;             /* bytes on each PE */
    size_t free;             /* bytes that are in no block of the calling PE */
    size_t largest;          /* bytes of the largest block that there is room for */
    unsigned long long caps; /* SHMEMX_PARTITION_ flags */
    char kind[16];           /* NORMALMEM and so on */
} shmemx_partition_info_t;

/* Writes what there is to know of partition `id`. Returns 0, or 1 if there is no such partition. */
int shmemx_partition_info(int id, shmemx_partition_info_t *info);

/* Where the copy of PE `pe` of memory on a device is for kernels that run on the calling PE's
 * device; a null pointer for other memory, and if there is no such PE. The processor cannot use the
 * address. */
void *shmemx_device_ptr(const void *ptr, int pe);

/* Writes `bytes` bytes of the calling PE's copy to the file that a partition of KIND=FILE is, and
 * waits until they are there. Returns 0, or 1 if `ptr` is in no such partition or the file cannot
 * be written. */
int shmemx_partition_persist(void *ptr, size_t bytes);

/* The next four are in liboneshmem_openmp, which oshcc links with -fopenmp-targets.
 *
 * From now on arrays that `target data` maps to OpenMP's device `number` (a negative one: the default device) get
 * storage from the partition of KIND=LIBOMP, so that they are symmetric. Called after shmem_init. The functions
 * `allocate` and `release` have been proposed and are not called. Returns 0, or 1 if it cannot be, and says why. The
 * second form has the arguments in another order. */
int __tgt_set_device_allocator(int64_t number, void *allocate, void *release);
int __tgt_set_shmem_allocator(void *(*allocate)(size_t size, int id), void (*release)(void *ptr),
                              int64_t number);

/* Mapped arrays have OpenMP's own storage again. Returns 0, or 1 if arrays are still mapped. */
int __tgt_reset_device_allocator(int64_t number);

/* Whether arrays that the calling thread maps get storage from the partition, if any do; returns what was
 * before. */
int shmemx_openmp_maps(int on);

/* A hint for shmem_malloc_with_hints: from partition `id`, or else from the heap. */
#define SHMEMX_MALLOC_PARTITION(id) (((long)(id) + 1) << 16)

#ifdef __cplusplus
}
#endif

#endif
