/* top: PEs that never end, each busy in its own way; tests/transcripts/top.md knows it too. PE 0 puts 8 bytes at a time to the
 * last PE, PE 1 waits for what never comes, the others sleep. With an argument, PE 1 keeps all others waiting in barriers, for
 * 20 ms each time. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long never, place;

int main(int count, char **words)
{
    (void)words;
    shmem_init();
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    void *kept = shmem_malloc(1 << 20);
    shmem_free(shmem_malloc(5 << 20));
    printf("PE %d has a block: %d\n", me, kept != NULL);
    while (count > 1) {
        if (me == 1)
            usleep(20000);
        shmem_barrier_all();
    }
    if (me == 1)
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    for (;;) {
        if (me == 0)
            shmem_long_p(&place, 1, last);
        else
            sleep(1000);
    }
}
