/* A hint that a thousand operations follow. */
#include <shmem.h>
#include <stdio.h>

static long sum;

int main(void)
{
    shmem_init();
    shmem_ctx_session_config_t config = {.total_ops = 1000};
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH,
                            &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < 1000; i++)
        shmem_long_atomic_add(&sum, 1, 0);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./session
 * 2000 */
