/* Memory for signal objects. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    uint64_t *signals = shmem_malloc_with_hints(
        8 * sizeof *signals, SHMEM_MALLOC_SIGNAL_REMOTE);
    if (signals == NULL)
        shmem_global_exit(1);
    signals[0] = 0;
    shmem_barrier_all();
    shmem_signal_add(&signals[0], 1, 0);
    if (shmem_my_pe() == 0) {
        shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ,
                                shmem_n_pes());
        printf("all signals are here\n");
    }
    shmem_free(signals);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./malloc_hints
 * all signals are here */
