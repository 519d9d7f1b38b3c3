// pes: 1 2 3 4 7 8
// variants: all
/* rule 1.1: start, counting of starts and ends, life after the end, and starting again. */
#include "check.h"

static long global = 5;

static void works(int round)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    long *heap = shmem_malloc(sizeof *heap);
    CHECK(heap != NULL);
    shmem_long_p(&global, 100 * round + me, to);
    shmem_long_p(heap, 200 * round + me, to);
    shmem_barrier_all();
    CHECK_EQ(global, 100 * round + (me + npes - 1) % npes);
    CHECK_EQ(*heap, 200 * round + (me + npes - 1) % npes);
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK_EQ(shmem_team_sync(team), 0);
    /* Neither heap nor team is given back: the last finalize does it. rule 1.4 */
}

int main(void)
{
    /* rule 1.8: at any time */
    CHECK_EQ(check_initialized(), 0);
    int me = -1, npes = -1;
    for (int phase = 0; phase < 3; phase++) { /* rule 1.5: again after the last end */
        if (phase == 0)
            shmem_init();
        else {
            int provided;
            CHECK_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
        }
        CHECK(check_initialized() != 0);
        if (phase > 0) { /* rule 1.10: the same PE */
            CHECK_EQ(shmem_my_pe(), me);
            CHECK_EQ(shmem_n_pes(), npes);
        }
        me = shmem_my_pe();
        npes = shmem_n_pes();
        CHECK(me >= 0 && me < npes);
        works(3 * phase + 1);
        shmem_init(); /* rule 1.3: counts */
        shmem_init();
        works(3 * phase + 2);
        shmem_finalize();
        CHECK(check_initialized() != 0);
        /* rule 1.4: an early finalize is a barrier that completes, and frees nothing */
        static long mark;
        shmem_long_p(&mark, phase + 1, (me + 1) % npes);
        shmem_finalize();
        CHECK(check_initialized() != 0);
        CHECK_EQ(mark, phase + 1);
        works(3 * phase + 3);
        long last = global;
        shmem_barrier_all();
        shmem_finalize();
        CHECK_EQ(check_initialized(), 0);
        CHECK_EQ(global, last); /* rule 1.7: the program's own data is still there */
        global = 7;
        CHECK_EQ(global, 7);
    }
    return 0;
}
