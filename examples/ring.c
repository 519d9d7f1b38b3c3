/*
 * ring: a token goes once around all PEs, each adding its own number.
 *
 *   oshcc ring.c -o ring && oshrun -n 4 ./ring
 *
 * Shows: a symmetric variable, a put of one value, and waiting for it.
 */
#include <shmem.h>
#include <stdio.h>

/* A global variable exists on every PE at a corresponding place, so any PE can
 * name any other PE's copy by the address of its own: it is symmetric. */
static long token = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    int next = (me + 1) % npes;

    if (me == 0) /* PE 0 starts the token ... */
        shmem_long_atomic_set(&token, 0, next);

    /* ... everyone waits for it, adds its number and passes it on ... */
    shmem_long_wait_until(&token, SHMEM_CMP_NE, -1);
    if (me != 0)
        shmem_long_atomic_set(&token, token + me, next);

    /* ... and it returns to PE 0 with the sum of all numbers. */
    int wrong = 0;
    if (me == 0) {
        long expected = (long)npes * (npes - 1) / 2;
        wrong = token != expected;
        printf("The token came back to PE 0 with %ld, expected %ld\n", token, expected);
    }
    shmem_finalize();
    return wrong;
}
