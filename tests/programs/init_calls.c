/* init_calls: marks where shmem_init begins and ends, for one who watches the
 * system calls: a close of a descriptor that cannot be is a mark. */
#include <shmem.h>
#include <unistd.h>

int main(void)
{
    close(-1001);
    shmem_init();
    close(-1002);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
