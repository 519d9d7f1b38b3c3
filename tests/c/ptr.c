// pes: 1 2 3 4 7 8
// device: no
// variants: all
/* shmem_ptr and what is accessible. */
#include "check.h"

static long global;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long local = 0, *heap = shmem_malloc(8 * sizeof *heap), *private = malloc(8);
    for (int pe = 0; pe < npes; pe++) {
        /* rule 1.12 */
        CHECK_EQ(shmem_pe_accessible(pe), 1);
        CHECK_EQ(shmem_addr_accessible(&global, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&heap[7], pe), 1);
        CHECK_EQ(shmem_addr_accessible(&local, pe), 0);
        CHECK_EQ(shmem_addr_accessible(private, pe), 0);
        CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
        CHECK_EQ(shmem_addr_accessible("a constant", pe), 0);
        /* rule 1.13: loads and stores reach the peer; own PE gives the address itself */
        long *g = shmem_ptr(&global, pe), *h = shmem_ptr(&heap[3], pe);
        CHECK(g != NULL && h != NULL);
        if (pe == me)
            CHECK(g == &global && h == &heap[3]);
        CHECK(shmem_ptr(&local, pe) == NULL);
        CHECK(shmem_ptr(private, pe) == NULL);
        CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, &global, pe) == (void *)g);
        CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &global, pe) == NULL);
        shmem_barrier_all();
        if (me == (pe + 1) % npes) {
            *g = 100 + pe;
            h[1] = 200 + pe; /* pointer arithmetic within the object: rule 0.9 */
        }
        shmem_barrier_all();
        if (me == pe) {
            CHECK_EQ(*(volatile long *)&global, 100 + pe);
            CHECK_EQ(*(volatile long *)&heap[4], 200 + pe);
        }
    }
    CHECK_EQ(shmem_pe_accessible(-1), 0);
    CHECK_EQ(shmem_pe_accessible(npes), 0);
    CHECK_EQ(shmem_pe_accessible(INT32_MAX), 0);
    CHECK_EQ(shmem_addr_accessible(&global, npes), 0);
    CHECK_EQ(shmem_addr_accessible(&global, -1), 0);
    /* rule 1.14: everyone who can be reached with load and store is in TEAM_SHARED */
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), npes);
    for (int pe = 0; pe < npes; pe++) {
        int world = shmem_team_translate_pe(SHMEM_TEAM_SHARED, pe, SHMEM_TEAM_WORLD);
        CHECK(shmem_ptr(heap, world) != NULL);
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, heap, pe) == shmem_ptr(heap, world));
    }
    /* PE numbers of team_ptr are the team's */
    shmem_team_t back;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
    for (int pe = 0; pe < npes; pe++)
        CHECK(shmem_team_ptr(back, heap, pe) == shmem_ptr(heap, npes - 1 - pe));
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
