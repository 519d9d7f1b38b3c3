/* linger HOW FILE: starts, makes FILE when all PEs are there, and never ends. */
#include <fcntl.h>
#include <shmem.h>
#include <string.h>
#include <unistd.h>

static long never, lock;

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    const char *how = argc > 1 ? argv[1] : "sleep";
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 0 && argc > 2)
        close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    if (strcmp(how, "compute") == 0)
        for (volatile long forever = 0;;)
            forever = forever + 1;
    if (strcmp(how, "wait") == 0)
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (strcmp(how, "barrier") == 0 && me != 0)
        shmem_barrier_all();
    if (strcmp(how, "lock") == 0 && me != 0)
        shmem_set_lock(&lock);
    for (;;)
        sleep(1000);
}
