/* Sandia OpenSHMEM's transport between the PEs of one node, over onenode: loads and stores on the
 * peers' data segments and heaps. It includes nothing of SOS's; README.md says which functions of
 * SOS call it, and where.
 *
 * The operations below decide and translate in one inlined comparison. They do the operation and
 * return true, or return false and have done nothing: then it is the network's. They are false
 * before startup and after fini, too. */
#ifndef TRANSPORT_ONENODE_H
#define TRANSPORT_ONENODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <onenode.h>

#define TRANSPORT_ONENODE_INLINE static inline __attribute__((__always_inline__))

/* What the transport needs of its runtime. The three functions have the types of
 * shmem_runtime_put, shmem_runtime_get and shmem_runtime_get_node_rank. */
struct shmem_transport_onenode_job {
    int my_pe, num_pes;
    void *heap;             /* page-aligned private anonymous memory, equal bytes on all PEs */
    size_t heap_bytes;
    int (*put)(char *key, void *value, size_t bytes);
    int (*get)(int pe, char *key, void *value, size_t bytes);
    int (*node_rank)(int pe);   /* negative for a PE on another node */
};

/* These return 0, or 1 with a sentence in shmem_transport_onenode_message(). */

/* Makes the program's data segment and the heap reachable and puts this PE's card into the job's
 * key-value store. No thread may write to either meanwhile, and no device may have registered
 * them: call it before the network's transport starts, and before the exchange. */
int shmem_transport_onenode_init(const struct shmem_transport_onenode_job *job);

/* Attaches the PEs of this node; after the exchange. */
int shmem_transport_onenode_startup(void);

/* Detaches the PEs; after a barrier. The heap keeps its address and its content. */
int shmem_transport_onenode_fini(void);

const char *shmem_transport_onenode_message(void);

/* Never NULL: it has room for no PE before startup and after fini. */
extern onenode_table *shmem_transport_onenode_table;

/* The address here of PE pe's counterpart of own; NULL if pe is on another node, or own is not
 * symmetric. SOS's atomics operate on this address. */
TRANSPORT_ONENODE_INLINE void *
shmem_transport_onenode_ptr(const void *own, int pe)
{
    return onenode_at(shmem_transport_onenode_table, own, (size_t) (unsigned) pe);
}

/* A scalar's length is known where the call is inlined: then it is one load and one store. */
TRANSPORT_ONENODE_INLINE void
shmem_transport_onenode_copy(void *to, const void *from, size_t len)
{
    if (__builtin_constant_p(len) && len <= 16)
        memcpy(to, from, len);
    else
        onenode_copy(to, from, len);
}

TRANSPORT_ONENODE_INLINE bool
shmem_transport_onenode_put(void *target, const void *source, size_t len, int pe)
{
    void *there = shmem_transport_onenode_ptr(target, pe);
    if (there == NULL)
        return false;
    shmem_transport_onenode_copy(there, source, len);
    return true;
}

TRANSPORT_ONENODE_INLINE bool
shmem_transport_onenode_get(void *target, const void *source, size_t len, int pe)
{
    const void *there = shmem_transport_onenode_ptr(source, pe);
    if (there == NULL)
        return false;
    shmem_transport_onenode_copy(target, there, len);
    return true;
}

/* The signal becomes visible after the data. For builds whose AMOs on this node are processor
 * atomics, so that every update of a signal is of one kind, those without data included. */
TRANSPORT_ONENODE_INLINE bool
shmem_transport_onenode_put_signal(void *target, const void *source, size_t len,
                                   uint64_t *sig_addr, uint64_t signal, bool add, int pe)
{
    uint64_t *sig_there = (uint64_t *) shmem_transport_onenode_ptr(sig_addr, pe);
    void *there = len != 0 ? shmem_transport_onenode_ptr(target, pe) : sig_there;
    if (sig_there == NULL || there == NULL)
        return false;
    onenode_copy_signal(there, source, len, sig_there, signal, add);
    return true;
}

#endif /* TRANSPORT_ONENODE_H */
