// pes: 1 2 4 7
// device: no
// variants: all
/* A forked child has a snapshot of its own: neither sees the other's later writes.
 * Children that run other programs work as ever. */
#include "check.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long data = 1;
static char page[8192];

static int wait_for(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

/* What the child sees: a step number for the first that is wrong, or 0. */
static int look(const long *heap, long want_data, long want_heap, char want_page)
{
    return data != want_data ? 1 : *heap != want_heap ? 2 : page[5000] != want_page ? 3 : 0;
}

static int child_main(long *heap, int from_parent, int to_parent)
{ /* no PE: plain computing only, and _exit */
    char byte;
    int wrong = look(heap, 10, 20, 'p');
    if (wrong)
        return 10 + wrong;
    if (write(to_parent, "x", 1) != 1 || read(from_parent, &byte, 1) != 1)
        return 1; /* the parent has written meanwhile */
    wrong = look(heap, 10, 20, 'p');
    if (wrong)
        return 20 + wrong;
    data = 30;
    *heap = 40;
    page[5000] = 'q';
    if (write(to_parent, "x", 1) != 1 || read(from_parent, &byte, 1) != 1)
        return 2; /* the parent has looked meanwhile */
    wrong = look(heap, 30, 40, 'q');
    return wrong ? 30 + wrong : 0;
}

static void snapshot(long *heap)
{
    int down[2], up[2];
    char byte;
    CHECK(pipe(down) == 0 && pipe(up) == 0);
    data = 10;
    *heap = 20;
    page[5000] = 'p';
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(down[1]), close(up[0]);
        _exit(child_main(heap, down[0], up[1]));
    }
    close(down[0]), close(up[1]); /* so that a child that ends early is noticed */
    if (read(up[0], &byte, 1) == 1) {
        data = 11;
        *heap = 21;
        page[5000] = 'r';
        CHECK(write(down[1], "x", 1) == 1);
    }
    if (read(up[0], &byte, 1) == 1) {
        CHECK_EQ(look(heap, 11, 21, 'r'), 0);
        CHECK(write(down[1], "x", 1) == 1);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(look(heap, 11, 21, 'r'), 0);
    close(down[1]), close(up[0]);
}

static void programs(void)
{
    CHECK_EQ(WEXITSTATUS(system("exit 5")), 5);
    char line[32] = "";
    FILE *echo = popen("echo from the child", "r");
    CHECK(echo != NULL && fgets(line, sizeof line, echo) != NULL);
    CHECK(strcmp(line, "from the child\n") == 0);
    CHECK_EQ(pclose(echo), 0);
    char *argv[] = {"sh", "-c", "exit 6", NULL};
    pid_t child;
    CHECK_EQ(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ), 0);
    CHECK_EQ(wait_for(child), 6);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    long *heap = shmem_calloc(2, sizeof *heap);
    for (int round = 0; round < 3; round++) {
        snapshot(heap);
        programs();
        shmem_barrier_all();
        /* Communication goes on as if nothing had been. */
        shmem_long_p(&data, 50 + me, to);
        shmem_long_p(heap, 60 + me, to);
        shmem_barrier_all();
        CHECK_EQ(data, 50 + (me + npes - 1) % npes);
        CHECK_EQ(*heap, 60 + (me + npes - 1) % npes);
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
