/* heap_pages WHAT: checks that the symmetric heap is made of the pages that WHAT names,
 * here and in the peers' mirrors, and works as ever: over two sessions, and in a child.
 *
 *   ordinary         pages of the system's usual size
 *   explicit KIB     huge pages of so many KiB
 *   transparent      huge pages where the kernel can make them
 *   populated KIB    so much is there before anything is touched
 *   numa             a page is on its owner's node, whoever touches it first */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 6 << 20 };

/* The number that a field of /proc/self/smaps has for the mapping at an address; -1: none. */
static long smaps(const void *address, const char *field)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file != NULL);
    char line[512], name[64];
    unsigned long start, end;
    long value = -1, kib;
    int inside = 0;
    while (value < 0 && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            inside = start <= (unsigned long)address && (unsigned long)address < end;
        else if (inside && sscanf(line, "%63[^:]: %ld", name, &kib) == 2 && strcmp(name, field) == 0)
            value = kib;
    }
    fclose(file);
    return value;
}

static int node_of(void *address)
{
    int node = -1;
    /* MPOL_F_NODE | MPOL_F_ADDR */
    CHECK_EQ(syscall(SYS_get_mempolicy, &node, NULL, 0ul, address, 3ul), 0);
    return node;
}

static void check_pages(const char *what, const char *number, char *block, int pe)
{
    const char *copy = shmem_ptr(block, pe);
    CHECK(copy != NULL);
    if (strcmp(what, "ordinary") == 0)
        CHECK_EQ(smaps(copy, "KernelPageSize"), sysconf(_SC_PAGESIZE) / 1024);
    if (strcmp(what, "explicit") == 0 && (pe == shmem_my_pe() || getenv("MIRRORS_TOO")))
        CHECK_EQ(smaps(copy, "KernelPageSize"), atol(number));
    if (strcmp(what, "transparent") == 0 && pe == shmem_my_pe())
        CHECK(smaps(copy, "AnonHugePages") >= 2048 || smaps(copy, "ShmemPmdMapped") >= 2048);
}

/* A child has the heap as it was, and its writes are its own. */
static void check_child(char *block)
{
    block[BYTES - 1] = 'p';
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int same = block[BYTES - 1] == 'p';
        block[BYTES - 1] = 'c';
        _exit(same ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(block[BYTES - 1], 'p');
}

static void session(const char *what, const char *number)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes, from = (me + npes - 1) % npes;
    char *block = shmem_malloc(BYTES);
    CHECK(block != NULL);
    if (strcmp(what, "populated") == 0)
        CHECK(smaps(block, "Rss") >= atol(number));
    /* The kernel maps memory that is read first to its zero page, and splits it later. */
    if (strcmp(what, "transparent") != 0)
        for (int i = 0; i < BYTES; i += 997)
            CHECK_EQ(block[i], 0);
    shmem_barrier_all();
    if (strcmp(what, "numa") == 0) {
        static int nodes[MAX_PES];
        unsigned cpu, node;
        CHECK_EQ(syscall(SYS_getcpu, &cpu, &node, NULL), 0);
        nodes[me] = (int)node;
        char *fresh = shmem_align(4096, BYTES); /* nobody has touched it */
        CHECK(fresh != NULL);
        shmem_char_p(fresh + BYTES / 2, 'n', to);
        shmem_barrier_all();
        CHECK_EQ(node_of(fresh + BYTES / 2), nodes[me]);
        CHECK(npes == 1 || shmem_int_g(&nodes[from], from) != nodes[me]); /* or it shows nothing */
    }
    char *half = malloc(BYTES / 2);
    memset(half, 'a' + me, BYTES / 2);
    shmem_putmem(block + BYTES / 4, half, BYTES / 2, to);
    free(half);
    shmem_barrier_all();
    for (int i = 0; i < BYTES; i += 997)
        CHECK_EQ(block[i], i >= BYTES / 4 && i < BYTES / 4 * 3 ? 'a' + from : 0);
    memset(block, 'x', BYTES);
    for (int pe = 0; pe < npes; pe++)
        check_pages(what, number, block, pe);
    check_child(block);
    shmem_barrier_all();
    shmem_finalize();
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    for (int round = 0; round < 2; round++)
        session(argv[1], argc > 2 ? argv[2] : "0");
    return 0;
}
