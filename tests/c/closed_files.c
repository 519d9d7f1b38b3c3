// pes: 2 4
// device: no
// backends: memfd smartmap
/* A program may close descriptors that are not its own (daemons and shells do): the job goes
 * on, also where its numbers then belong to files of the program, which stay as they are.
 * closed_device.c says what XPMEM makes of it. */
// case: duplicate duplicate
// case: close close
// case: reuse reuse
// case: everybody everybody
// case: before before
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

enum { FIRST = 3, LAST = 64 };

static long word = -1;

static void close_all(void)
{
    for (int fd = FIRST; fd < LAST; fd++)
        close(fd);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *how = argv[1];
    if (strcmp(how, "before") == 0)
        close_all();
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), last = me == npes - 1;
    char path[] = "/tmp/closed-files-XXXXXX";
    int own = -1;
    if (last && strcmp(how, "duplicate") == 0)
        for (int fd = FIRST; fd < LAST; fd++)
            close(dup(fd));
    if ((last && strcmp(how, "close") == 0) || strcmp(how, "everybody") == 0)
        close_all();
    if (last && strcmp(how, "reuse") == 0) {
        close_all();
        own = mkstemp(path);
        CHECK(own >= 0);
        while (own < LAST / 2)
            own = dup(own);
        CHECK_EQ(write(own, "user data", 9), 9);
        CHECK_EQ(ftruncate(own, 1 << 20), 0);
    }
    /* Long enough that peers who wait look who is alive. */
    if (last)
        usleep(400000);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) /* attaches */
        shmem_long_p(&word, 7, pe);
    shmem_barrier_all();
    CHECK_EQ(word, 7);
    long *block = shmem_malloc(1 << 20);
    shmem_long_p(&block[me], me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(block[(me + npes - 1) % npes], (me + npes - 1) % npes);
    shmem_finalize();
    /* A second session needs the file again. */
    shmem_init();
    shmem_long_p(&word, 9, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(word, 9);
    shmem_finalize();
    if (own >= 0) {
        char text[10] = "";
        CHECK_EQ(pread(own, text, 9, 0), 9);
        CHECK(strcmp(text, "user data") == 0);
        CHECK_EQ(lseek(own, 0, SEEK_END), 1 << 20);
        unlink(path);
    }
    return 0;
}
