/* Has a little of a large heap in use, and writes a word there that can be found in a core dump.
 * With the argument `abort`, PE 0 dumps core; with `gcore`, a debugger makes its dump. */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    enum { BYTES = 100000 };
    char *block = shmem_malloc(BYTES), *more;
    for (int i = 0; i < 3; i++) { /* the heap grows after peers are attached */
        memset(block, 'a' + me, BYTES);
        snprintf(block, 32, "%s-%d-of-the-heap", "marker", me);
        shmem_barrier_all();
        shmem_char_p(block + BYTES - 1, '!', (me + 1) % npes);
        shmem_barrier_all();
        if (block[BYTES - 1] != '!' || shmem_char_g(block + BYTES - 1, (me + 1) % npes) != '!')
            return 2;
        more = shmem_malloc((size_t)4 << (20 + i));
        more[(4 << (20 + i)) - 1] = 1;
        shmem_char_p(more, '?', (me + 1) % npes);
        block = shmem_realloc(block, BYTES);
        shmem_barrier_all();
    }
    if (argc > 1 && me == 0) {
        char command[64];
        struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
        if (setrlimit(RLIMIT_CORE, &unlimited) != 0)
            return 3;
        if (strcmp(argv[1], "abort") == 0)
            abort();
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        snprintf(command, sizeof command, "gcore -o core %d >&2", (int)getpid());
        if (system(command) != 0)
            return 4;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
