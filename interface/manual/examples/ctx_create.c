/* Operations of two kinds are completed separately. */
#include <shmem.h>
#include <stdio.h>

static long first, second;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    long value = me;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
        shmem_global_exit(1);
    shmem_ctx_long_put_nbi(ctx, &first, &value, 1, next);
    shmem_long_put_nbi(&second, &value, 1, next);
    shmem_ctx_quiet(ctx); /* completes the first put only */
    shmem_ctx_destroy(ctx);
    shmem_barrier_all(); /* completes the second put */
    printf("PE %d: %ld %ld\n", me, first, second);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./ctx_create
 * PE 0: 1 1
 * PE 1: 0 0 */
