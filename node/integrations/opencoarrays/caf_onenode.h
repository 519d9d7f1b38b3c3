/* OpenCoarrays' fast path between the images of one node, over onenode: coarrays lie in memory that the others
 * load from and store to. It includes nothing of OpenCoarrays' or MPI's; README.md says which functions of
 * OpenCoarrays call it, and where.
 *
 * What returns bool has done the operation and returns true, or has done nothing and returns false: then it is
 * MPI's. That is so before caf_onenode_start and after caf_onenode_stop, too. */
#ifndef CAF_ONENODE_H
#define CAF_ONENODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <onenode.h>

#define CAF_ONENODE_INLINE static inline __attribute__((__always_inline__))

/* ---- Start and end ---- */

/* What it needs of MPI: two collectives over the current team, which is that of all images at the start. */
struct caf_onenode_job {
    int me, images;                 /* own rank, from 0, and number of all images */
    void (*least)(uint64_t *values, int n);                     /* each of n numbers: the least of all images */
    void (*gather)(const void *own, void *all, int bytes);      /* everybody's bytes, one after the other */
};

/* Makes the memory for coarrays and attaches the images of this node. All images call it. If it fails on one
 * of them, that image prints a sentence, and it returns false on all. False without a sentence: no two images
 * can reach each other. */
bool caf_onenode_start(const struct caf_onenode_job *job);

/* Memory for a coarray, to be put into a window (MPI_Win_create). All images of the team call it. NULL on all
 * of them: it is MPI's, because the team is not the initial one, or there is no room; the first time that there
 * is none, one image prints a sentence. */
void *caf_onenode_alloc(size_t bytes);

/* Frees it, after the window; each image by itself. False, if it is not memory of caf_onenode_alloc. */
bool caf_onenode_free(void *start);

/* The images of the current team are those of a new one, until caf_onenode_team_end. All images of the new team
 * call it, when the two collectives go over that. */
void caf_onenode_team_begin(int images);
void caf_onenode_team_end(void);

/* Detaches the images and frees all memory; after a barrier. */
void caf_onenode_stop(void);

/* ---- Addresses ---- */

/* Never NULL: they have room for no image before start and after stop. The second has all images or none:
 * where some images are far, their atomics are MPI's, and all atomics have to be of one kind. */
extern onenode_table *caf_onenode_table;
extern onenode_table *caf_onenode_all;

/* The ranks of the current team's images; NULL in the initial team. Before start, image numbers mean nothing. */
struct caf_onenode_team {
    struct caf_onenode_team *outer;
    int images;
    int rank[];
};
extern struct caf_onenode_team *caf_onenode_team;
extern int caf_onenode_me;

/* The rank in the initial team of an image, from 1, of the current one; 0: of this image. Negative: none. */
CAF_ONENODE_INLINE int
caf_onenode_rank(int image)
{
    const struct caf_onenode_team *team = caf_onenode_team;

    if (image == 0)
        return caf_onenode_me;
    if (__builtin_expect(team != NULL, 0))
        return image > 0 && image <= team->images ? team->rank[image - 1] : -1;
    return image - 1;
}

/* The address here of a rank's counterpart of own; NULL if it is far, or own is in no coarray of ours. */
CAF_ONENODE_INLINE void *
caf_onenode_at(const void *own, int rank)
{
    return onenode_at(caf_onenode_table, own, (size_t) (unsigned) rank);
}

/* Orders this image's loads and stores, those of coarrays of others included, before and after: for both ends of
 * all that synchronises images. MPI's messages need not do that for memory that it does not know. */
CAF_ONENODE_INLINE void
caf_onenode_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- Copies ---- */

/* Most lengths are no constants in OpenCoarrays. */
CAF_ONENODE_INLINE void
caf_onenode_copy(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: onenode_copy(to, from, bytes);
    }
}

/* Bytes of rank's coarray, whose counterpart here is own. */
CAF_ONENODE_INLINE bool
caf_onenode_put(void *own, int rank, const void *from, size_t bytes)
{
    void *there = caf_onenode_at(own, rank);

    if (there == NULL || rank == caf_onenode_me)
        return false;
    caf_onenode_copy(there, from, bytes);
    return true;
}

CAF_ONENODE_INLINE bool
caf_onenode_get(void *to, const void *own, int rank, size_t bytes)
{
    void *there = caf_onenode_at(own, rank);

    if (there == NULL || rank == caf_onenode_me)
        return false;
    caf_onenode_copy(to, there, bytes);
    return true;
}

/* One side of an assignment: an array, or a scalar of rank 0. */
struct caf_onenode_array {
    void *start;            /* of the coarray's counterpart here, or of the local memory */
    int image;              /* of the current team; 0: local memory */
    int rank;
    size_t element;         /* bytes */
    const void *dim;        /* three ptrdiff_t for each dimension, as in gfortran's descriptors: the distance of two
                             * elements, in elements, and the least and the greatest index */
};

/* Assigns elements of one type and kind. `blank` is 0, or the kind, 1 or 4, of characters, which may have different
 * lengths. MPI's are: both on one image, where they may overlap; other shapes; other lengths. */
bool caf_onenode_assign_arrays(const struct caf_onenode_array *to, const struct caf_onenode_array *from, int blank);

CAF_ONENODE_INLINE bool
caf_onenode_assign(const struct caf_onenode_array *to, const struct caf_onenode_array *from, int blank)
{
    if (to->rank == 0 && from->rank == 0 && to->element == from->element) {
        if (from->image == 0)
            return caf_onenode_put(to->start, caf_onenode_rank(to->image), from->start, to->element);
        if (to->image == 0)
            return caf_onenode_get(to->start, from->start, caf_onenode_rank(from->image), to->element);
    }
    return caf_onenode_assign_arrays(to, from, blank);
}

/* ---- Atomics, of 4 and 8 bytes; the processor's, if all images are on this node ---- */

/* The first four are numbered as in gfortran's calls. */
enum {
    CAF_ONENODE_ADD = 1, CAF_ONENODE_AND = 2, CAF_ONENODE_OR = 4, CAF_ONENODE_XOR = 5,
    CAF_ONENODE_DEFINE = 100, CAF_ONENODE_REF = 101
};

/* `old`, which may be NULL, gets the value before. */
bool caf_onenode_atomic(int operation, void *own, int image, const void *value, void *old, int kind);

/* Stores `value` if `compare` is there. */
bool caf_onenode_cas(void *own, int image, void *old, const void *compare, const void *value, int kind);

#endif /* CAF_ONENODE_H */
