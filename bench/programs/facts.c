/* What an implementation says about itself. */
#include "bench.h"

int main(int argc, char **argv)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor;
    bench_start(argc, argv);
    shmem_info_get_name(name);
    shmem_info_get_version(&major, &minor);
    bench_check(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION,
                "the header is of OpenSHMEM %d.%d, the library of %d.%d", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION, major, minor);
    if (bench.pe == 0)
        printf("FACT name %s\nFACT specification %d.%d\n", name, major, minor);
    bench_finish();
    return 0;
}
