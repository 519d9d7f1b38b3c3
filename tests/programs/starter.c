/* starter COMMAND...: each PE runs the commands by system() between shmem_init and shmem_finalize. Without
 * a command, says which PE it is. "again" as the last command: executes itself in the end. */
#include "../c/check.h"
#include <unistd.h>

static long told;

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), again = argc > 1 && strcmp(argv[argc - 1], "again") == 0;
    for (int i = 1; i < argc - again; i++)
        CHECK_EQ(system(argv[i]), 0);
    shmem_long_p(&told, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(told, (me + npes - 1) % npes + 1);
    shmem_finalize();
    if (again)
        execl("/proc/self/exe", argv[0], (char *)NULL);
    printf("%s: PE %d of %d\n", argc > 1 ? "starter" : "started", me, npes);
    return 0;
}
