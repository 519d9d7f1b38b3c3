/* SOS's transport without SOS: forked processes as PEs, shared memory as the runtime's key-value
 * store. check PES PES_PER_NODE: nodes are faked by what node_rank says. Prints nothing if right. */
#define _GNU_SOURCE
#include "transport_onenode.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, HEAP_BYTES = 1 << 20, MANY = 100000 };

struct store {                          /* the runtime */
    int arrived, published[MOST];
    unsigned char value[MOST][256];
};

static struct store *store;
static int me, pes, pes_per_node;
static int failures;

static long in_data = 1;                /* the data segment */
static char bytes_in_bss[4096];
static uint64_t signal_word, counter;

#define CHECK(condition) \
    ((condition) ? (void) 0 : \
     (void) (failures++, fprintf(stderr, "PE %d, line %d: %s\n", me, __LINE__, #condition)))

static int
put(char *key, void *value, size_t bytes)
{
    if (strcmp(key, "onenode") != 0 || bytes > sizeof(store->value[0]))
        return 1;
    memcpy(store->value[me], value, bytes);
    __atomic_store_n(&store->published[me], 1, __ATOMIC_RELEASE);
    return 0;
}

static int
get(int pe, char *key, void *value, size_t bytes)
{
    if (strcmp(key, "onenode") != 0 || !__atomic_load_n(&store->published[pe], __ATOMIC_ACQUIRE))
        return 1;
    memcpy(value, store->value[pe], bytes);
    return 0;
}

static int
node_rank(int pe)
{
    return pe / pes_per_node == me / pes_per_node ? pe % pes_per_node : -1;
}

static void
barrier(void)
{
    int all = (__atomic_fetch_add(&store->arrived, 1, __ATOMIC_ACQ_REL) / pes + 1) * pes;
    while (__atomic_load_n(&store->arrived, __ATOMIC_ACQUIRE) < all)
        usleep(100);
}

/* As SOS does: not far above the program, so that one comparison serves data segment and heap. */
static char *
new_heap(void)
{
    extern char _end[];
    void *hint = (void *) (((uintptr_t) _end + (2UL << 30)) & ~((1UL << 30) - 1));
    return mmap(hint, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int
near(int pe)
{
    return node_rank(pe) >= 0;
}

/* What each PE does to PE pe, which may be itself. */
static void
reach(int pe, char *heap)
{
    long old = 0, fresh = 1000 + me, value = 0;
    char *there = shmem_transport_onenode_ptr(heap, pe);
    char on_stack = 0;

    CHECK((there != NULL) == near(pe));
    CHECK(shmem_transport_onenode_get(&old, &in_data, sizeof(old), pe) == near(pe));
    CHECK(old == (near(pe) ? 1 + pe : 0));

    /* Each PE writes its own places, first a scalar's length and then one that nobody knows. */
    CHECK(shmem_transport_onenode_put(heap + 8 * me, &fresh, sizeof(fresh), pe) == near(pe));
    CHECK(shmem_transport_onenode_put(bytes_in_bss + 32 * me, "bytes of any number.",
                                      (size_t) (12 + me % 8), pe) == near(pe));
    CHECK(shmem_transport_onenode_get(&value, heap + 8 * me, sizeof(value), pe) == near(pe));
    CHECK(value == (near(pe) ? fresh : 0));

    CHECK(shmem_transport_onenode_ptr(&on_stack, pe) == NULL);
    CHECK(!shmem_transport_onenode_put(&on_stack, &fresh, 1, pe));
    CHECK(shmem_transport_onenode_ptr(heap + (1L << 40), pe) == NULL);

    CHECK(shmem_transport_onenode_put_signal(heap + 4096 + 8 * me, &fresh, sizeof(fresh),
                                             &signal_word, 1, true, pe) == near(pe));
    CHECK(shmem_transport_onenode_put_signal(NULL, NULL, 0, &signal_word, 1, true, pe) == near(pe));
}

static void
add_up(void)
{
    for (int pe = 0; pe < pes; pe++) {
        uint64_t *there = shmem_transport_onenode_ptr(&counter, pe);
        for (int i = 0; there != NULL && i < MANY; i++)
            __atomic_fetch_add(there, 1, __ATOMIC_RELAXED);
    }
}

static int
run_pe(void)
{
    char *heap = new_heap();
    struct shmem_transport_onenode_job job = {
        .my_pe = me, .num_pes = pes, .heap = heap, .heap_bytes = HEAP_BYTES,
        .put = put, .get = get, .node_rank = node_rank };
    int peers = 0;

    in_data = 1 + me;
    heap[HEAP_BYTES - 1] = (char) me;
    for (int pe = 0; pe < pes; pe++)
        peers += near(pe);

    CHECK(shmem_transport_onenode_ptr(heap, me) == NULL);       /* nobody before startup */
    if (shmem_transport_onenode_init(&job) != 0) {
        fprintf(stderr, "PE %d: %s\n", me, shmem_transport_onenode_message());
        return 1;
    }
    CHECK(in_data == 1 + me && heap[HEAP_BYTES - 1] == (char) me);
    barrier();
    if (shmem_transport_onenode_startup() != 0) {
        fprintf(stderr, "PE %d: %s\n", me, shmem_transport_onenode_message());
        return 1;
    }
    CHECK(shmem_transport_onenode_ptr(heap, -1) == NULL);
    CHECK(shmem_transport_onenode_ptr(heap, pes) == NULL);
    for (int pe = 0; pe < pes; pe++)
        reach(pe, heap);
    add_up();
    barrier();

    for (int pe = 0; pe < pes; pe++) {
        long value = near(pe) ? 1000 + pe : 0;
        CHECK(memcmp(heap + 8 * pe, &value, 8) == 0);
        CHECK(memcmp(heap + 4096 + 8 * pe, &value, 8) == 0);
        CHECK(strncmp(bytes_in_bss + 32 * pe, near(pe) ? "bytes of any number." : "",
                      (size_t) (12 + pe % 8)) == 0);
    }
    CHECK(signal_word == 2 * (uint64_t) peers);
    CHECK(counter == (uint64_t) peers * MANY);
    barrier();

    shmem_transport_onenode_fini();
    CHECK(shmem_transport_onenode_ptr(heap, me) == NULL);       /* nor after fini */
    CHECK(heap[HEAP_BYTES - 1] == (char) me && counter == (uint64_t) peers * MANY);
    return failures != 0;
}

/* What cannot work is refused with a sentence, and the transport can be started afterwards. */
static void
refuse(void)
{
    char *heap = new_heap();
    struct shmem_transport_onenode_job job = {
        .my_pe = 0, .num_pes = 2, .heap = heap + 16, .heap_bytes = HEAP_BYTES / 2,
        .put = put, .get = get, .node_rank = node_rank };

    CHECK(shmem_transport_onenode_init(&job) == 1);
    CHECK(strstr(shmem_transport_onenode_message(), "SHMEM_SYMMETRIC_HEAP_USE_MALLOC") != NULL);
    job.heap = heap;
    CHECK(shmem_transport_onenode_init(&job) == 0);
    CHECK(shmem_transport_onenode_startup() == 1);      /* PE 1 has published nothing */
    CHECK(strstr(shmem_transport_onenode_message(), "PE 1 has published no") != NULL);
    shmem_transport_onenode_fini();
}

int
main(int argc, char **argv)
{
    int bad = 0, status;
    pid_t pid;

    if (argc != 3 || (pes = atoi(argv[1])) < 1 || pes > MOST || (pes_per_node = atoi(argv[2])) < 1) {
        fprintf(stderr, "usage: check PES PES_PER_NODE, with 1 to %d PEs\n", MOST);
        return 2;
    }
    store = mmap(NULL, sizeof(*store), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    alarm(60);                                          /* nothing may hang */
    if (fork() == 0) {
        pes_per_node = 2;
        refuse();
        _exit(failures != 0);
    }
    bad |= wait(&status) < 0 || status != 0;
    memset(store, 0, sizeof(*store));
    for (me = 0; me < pes; me++)
        if (fork() == 0) {
            alarm(60);
            exit(run_pe());
        }
    while ((pid = wait(&status)) > 0)
        bad |= status != 0;
    return bad;
}
