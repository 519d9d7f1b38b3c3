/* A known number of operations of each kind: tests/runner/statistics.rs knows it too. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long numbers[40], counter;
static uint64_t signal_word, about_to_wait;

int main(void)
{
    long private[10] = {0}, got[4];
    shmem_ctx_t ctx;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    char *heap = shmem_malloc(1000);

    /* to the right: 11 puts of 336 bytes, 6 atomics of 48, 2 signals of 16 */
    for (int i = 0; i < 3; i++)
        shmem_long_put(numbers, private, 10, right);
    for (int i = 0; i < 5; i++)
        shmem_long_p(&numbers[i], i, right);
    shmem_long_iput(numbers, private, 2, 1, 4, right);
    shmem_ctx_create(0, &ctx);
    shmem_ctx_int64_p(ctx, (int64_t *)numbers, 1, right);
    shmem_ctx_destroy(ctx);
    shmem_putmem_signal(numbers, private, 16, &signal_word, 1, SHMEM_SIGNAL_ADD, right);
    shmem_signal_add(&signal_word, 1, right);
    shmem_long_atomic_inc(&counter, right);
    shmem_long_atomic_fetch_add(&counter, 2, right);
    shmem_long_atomic_set(&counter, 3, right);
    shmem_long_atomic_compare_swap(&counter, 4, 5, right);
    shmem_long_atomic_fetch(&counter, right);
    shmem_long_atomic_swap(&counter, 5, right);
    /* to the left: 2 gets of 40 bytes */
    shmem_long_get(got, numbers, 4, left);
    shmem_long_g(&numbers[1], left);
    shmem_long_put(numbers, private, 0, left); /* moves nothing */
    shmem_quiet();
    shmem_quiet();

    /* PE 1 waits for PE 0: a signal each, a wait */
    if (npes > 1 && me == 0) {
        shmem_signal_wait_until(&about_to_wait, SHMEM_CMP_EQ, 1);
        usleep(200000);
        shmem_signal_set(&about_to_wait, 2, 1);
    } else if (me == 1) {
        shmem_signal_set(&about_to_wait, 1, 0);
        shmem_signal_wait_until(&about_to_wait, SHMEM_CMP_EQ, 2);
    }
    shmem_barrier_all();
    shmem_broadcastmem(SHMEM_TEAM_WORLD, numbers + 20, numbers, 80, 0);
    shmem_free(heap);
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}
