/* A library starts OpenSHMEM if the program has not. */
#include <shmem.h>
#include <stdio.h>

static int started;

static void library_start(void)
{
    int initialized;
    shmem_query_initialized(&initialized);
    if (!initialized) {
        shmem_init();
        started = 1;
    }
}

static void library_end(void)
{
    if (started)
        shmem_finalize();
}

int main(void)
{
    library_start();
    printf("started by the library: %s\n", started ? "yes" : "no");
    library_end();
    return 0;
}

/* $ oshrun -n 1 ./query_initialized
 * started by the library: yes */
