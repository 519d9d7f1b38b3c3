/* called WHERE: a call with a wrong argument, here or in a function of called_library.c. */
#include <shmem.h>
#include <string.h>

static long x;

void put_far(long *at);

/* Inlined where the compiler optimises. (No call here is the last thing that a function does: that would be a jump.) */
static void wrong(int pe)
{
    shmem_long_p(&x, 1, pe); /* a wrong argument */
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1 + shmem_my_pe(); /* too early */
    shmem_init();
#ifdef WITH_LIBRARY
    if (strcmp(argv[1], "library") == 0)
        put_far(&x);
#endif
    if (strcmp(argv[1], "here") == 0)
        wrong(shmem_n_pes());
    if (strcmp(argv[1], "collective") == 0)
        shmem_broadcastmem(SHMEM_TEAM_WORLD, &x, &x, 8, -1); /* a wrong root */
    if (strcmp(argv[1], "malloc") == 0)
        x = (long)shmem_malloc((size_t)1 << 60); /* too much */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
