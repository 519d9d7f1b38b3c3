/* PE 0 checks whether a signal has arrived, without waiting. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t signal;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        printf("before: %d\n", (int)shmem_signal_fetch(&signal));
    shmem_barrier_all();
    shmem_signal_add(&signal, 1, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("after: %d\n", (int)shmem_signal_fetch(&signal));
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./signal_fetch
 * before: 0
 * after: 3 */
