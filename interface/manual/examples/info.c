/* The version of the specification and the name of the library. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    int major, minor;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_init();
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    printf("OpenSHMEM %d.%d: %.8s\n", major, minor, name);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 1 ./info
 * OpenSHMEM 1.6: oneshmem */
