/* What a library does that needs OpenSHMEM: it starts and ends it if the program has not, and finds out what it runs on. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    int initialized, major, minor;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_query_initialized(&initialized);
    if (!initialized)
        shmem_init();
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    printf("OpenSHMEM %d.%d: %.8s\n", major, minor, name);
    if (!initialized)
        shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./library
 * OpenSHMEM 1.6: oneshmem */
