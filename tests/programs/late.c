/* late HOW: the last PE initialises late; PE 0 ends the job before that. HOW: a status for
 * shmem_global_exit, "misuse", or "exit" without shmem_finalize. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A foreign launcher's number of this process. */
static int rank(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "0";
    if (rank() != 0)
        usleep(400000);
    shmem_init();
    if (shmem_my_pe() == 0) {
        if (strcmp(how, "misuse") == 0)
            shmem_free((void *)1);
        if (strcmp(how, "exit") == 0)
            exit(0);
        shmem_global_exit(atoi(how));
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
