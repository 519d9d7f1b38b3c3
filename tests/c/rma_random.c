// pes: 2 3 4 7 8
/* Random puts and gets of random lengths at random places of each PE's memory.
 * Every PE owns a stripe in everyone's memory and keeps a shadow of what it put;
 * in the end both must agree. rule 0.11: targets that only compute are reached. */
#include "check.h"

enum { STRIPE = 5000, OPERATIONS = 3000 };
static unsigned char data[MAX_PES * STRIPE];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t seed = check_seed() + (uint64_t)me * 1000003;
    unsigned char *heap = shmem_calloc(MAX_PES, STRIPE);
    unsigned char *shadow = calloc((size_t)npes * 2, STRIPE), buffer[600];
    shmem_barrier_all();
    for (int op = 0; op < OPERATIONS; op++) {
        int pe = (int)check_random(&seed, (uint64_t)npes), segment = (int)check_random(&seed, 2);
        size_t length = check_random(&seed, sizeof buffer);
        size_t place = check_random(&seed, STRIPE - length);
        unsigned char *remote = (segment ? heap : data) + me * STRIPE + place;
        unsigned char *kept = shadow + ((size_t)pe * 2 + (size_t)segment) * STRIPE + place;
        if (check_random(&seed, 2)) {
            for (size_t i = 0; i < length; i++)
                kept[i] = (unsigned char)check_random(&seed, 256);
            shmem_putmem(remote, kept, length, pe);
        } else {
            shmem_quiet();
            shmem_getmem(buffer, remote, length, pe);
            CHECK(memcmp(buffer, kept, length) == 0);
        }
    }
    shmem_barrier_all();
    unsigned char *back = malloc(STRIPE);
    for (int pe = 0; pe < npes; pe++)
        for (int segment = 0; segment < 2; segment++) {
            shmem_getmem(back, (segment ? heap : data) + me * STRIPE, STRIPE, pe);
            CHECK(memcmp(back, shadow + (pe * 2 + segment) * STRIPE, STRIPE) == 0);
        }
    shmem_finalize();
    return 0;
}
