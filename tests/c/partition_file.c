// A partition of files: peers reach it, and what it holds outlives the program.
// pes: 1 2 4
// partition: no
// case: kept
// case: locked locked | status=nonzero stderr=SHMEM_SYMMETRIC_PARTITION1
// case: folder folder | status=nonzero stderr=/no/such/folder stderr=SHMEM_SYMMETRIC_PARTITION1
#include "check.h"
#include <fcntl.h>
#include <shmemx.h>
#include <sys/file.h>
#include <unistd.h>

enum { COUNT = 100000 };

static char path[200];

/* The same on all PEs and in the program that follows: their parent's number. */
static void ask(const char *folder)
{
    char value[300];
    snprintf(path, sizeof path, "%s/partition-file-%d", folder, (int)getppid());
    snprintf(value, sizeof value, "1M:KIND=FILE:PATH=%s-%%p", path);
    setenv("SHMEM_SYMMETRIC_PARTITION1", value, 1);
}

/* In persistent memory, this PE's file and its peers' are mapped with MAP_SYNC ("sf"). */
static void check_synchronous(const void *address)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file != NULL);
    char line[600];
    unsigned long start, end;
    int inside = 0, found = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            inside = start <= (unsigned long)address && (unsigned long)address < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, " sf") != NULL;
    }
    fclose(file);
    CHECK(found);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "first";
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    ask(strcmp(what, "folder") == 0 ? "/no/such/folder" : temporary);
    if (strcmp(what, "locked") == 0) {
        /* As another job would, with a file that has no name any more. */
        snprintf(path + strlen(path), sizeof path - strlen(path), "-locked-%d", (int)getpid());
        int file = open(path, O_RDWR | O_CREAT, 0600);
        CHECK(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && unlink(path) == 0);
        snprintf(path, sizeof path, "1M:KIND=FILE:PATH=/proc/self/fd/%d", file);
        setenv("SHMEM_SYMMETRIC_PARTITION1", path, 1);
    }
    /* The program that follows is another one of the same job. */
    char *place = getenv("ONESHMEM_PE") != NULL ? strdup(getenv("ONESHMEM_PE")) : NULL;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *block = shmemx_partition_malloc(COUNT * sizeof(long), 1);
    CHECK(block != NULL);
    int before = (me + npes - 1) % npes;
    if (getenv("CHECK_SYNCHRONOUS") != NULL)
        for (int pe = 0; pe < npes; pe++)
            check_synchronous(shmem_ptr(block, pe));
    if (strcmp(what, "first") == 0) {
        static long mine[COUNT];
        for (int i = 0; i < COUNT; i++)
            mine[i] = me * 1000003L + i;
        shmem_long_put(block, mine, COUNT, next);
        shmem_barrier_all();
        CHECK_EQ(shmemx_partition_persist(block, COUNT * sizeof(long)), 0);
        CHECK_EQ(shmemx_partition_persist(mine, sizeof mine), 1);
        shmem_finalize();
        CHECK(place != NULL && setenv("ONESHMEM_PE", place, 1) == 0);
        char *again[] = {argv[0], "second", NULL};
        execv("/proc/self/exe", again);
        return 1;
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(block[i], before * 1000003L + i);
    /* Memory that may hold something is made zero where that is promised. */
    shmem_barrier_all();
    shmem_free(block);
    long *zeros = shmemx_partition_calloc(COUNT, sizeof(long), 1);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(zeros[i], 0);
    shmem_finalize();
    snprintf(path + strlen(path), sizeof path - strlen(path), "-%d", me);
    CHECK_EQ(unlink(path), 0);
    return 0;
}
