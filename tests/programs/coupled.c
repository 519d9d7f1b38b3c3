/* PEs that run different executables in one job: PART makes one of them. Heap and partitions are
 * symmetric whatever PEs run; static data are symmetric between PEs of one executable. The first argument
 * says what to do, the second how many PEs run part 1, which are the first ones. */
#include "check.h"
#include <string.h>

#if PART == 2
/* Other static data, and more of them. */
static long before[70000];
#endif
static long here = PART, lock;
enum { BIG = 4096 };
static long big[BIG];
static long source[4] = {PART, 2, 3, 4}, psync[SHMEM_BARRIER_SYNC_SIZE]; /* SHMEM_SYNC_VALUE is 0 */

static int me, npes, first_of_2;

static int part(int pe)
{
    return pe < first_of_2 ? 1 : 2;
}

/* Everything that needs the heap only. */
static void heap(long *word, long *array, long *mutex)
{
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    shmem_long_p(word, me + 1, right);
    shmem_barrier_all();
    CHECK_EQ(*word, left + 1);
    CHECK_EQ(shmem_long_g(word, right), me + 1);
    shmem_barrier_all();
    shmem_long_atomic_add(word, 100, 0);
    for (int i = 0; i < 4096; i++)
        array[i] = me * 10000 + i;
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(*word, npes + 100 * npes);
    static long got[4096];
    shmem_long_get(got, array, 4096, right);
    for (int i = 0; i < 4096; i++)
        CHECK_EQ(got[i], right * 10000 + i);
    shmem_barrier_all();
    /* Private memory, static data included, may be the other side of any transfer. */
    shmem_long_put(array, source, 4, right);
    shmem_barrier_all();
    CHECK_EQ(array[0], part(left));
    CHECK(memcmp(array + 1, source + 1, 3 * sizeof *array) == 0);
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, array + 4, word, 1), 0);
    CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, array + 8, array, 4, npes - 1), 0);
    CHECK_EQ(array[8], part((npes + npes - 2) % npes));
    shmem_team_t code;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, first_of_2, 1, npes - first_of_2, NULL, 0,
                                      &code), 0);
    CHECK_EQ(code != SHMEM_TEAM_INVALID, part(me) == 2);
    if (part(me) == 2) {
        /* Between PEs of one executable, static data will do. */
        CHECK_EQ(shmem_long_max_reduce(code, big + 1, big, 1), 0);
        CHECK_EQ(shmem_long_broadcast(code, big, array, BIG, 0), 0);
        CHECK_EQ(big[8], array[8]);
    }
    *word = 0;
    shmem_barrier_all();
    for (int i = 0; i < 20; i++) {
        shmem_set_lock(mutex);
        shmem_long_p(word, shmem_long_g(word, 0) + 1, 0);
        shmem_clear_lock(mutex);
    }
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(*word, 20 * npes);
    for (int pe = 0; pe < npes; pe++) {
        long *direct = (long *)shmem_ptr(word, pe);
        int near = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
        CHECK(shmem_addr_accessible(word, pe));
        CHECK_EQ(direct != NULL, near);
        if (near)
            CHECK_EQ(direct[0], shmem_long_g(word, pe));
        int same = part(pe) == part(me);
        CHECK_EQ(shmem_addr_accessible(&here, pe), same);
        CHECK_EQ(shmem_ptr(&here, pe) != NULL, same && near);
        if (same) {
            CHECK_EQ(shmem_long_g(&here, pe), PART);
            shmem_long_p(&here, PART, pe);
        }
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    first_of_2 = argc > 2 ? atoi(argv[2]) : 0;
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    long *words = (long *)shmem_calloc(4200, sizeof *words);
    /* PE 0 is of part 1, the last one of part 2. */
    int last = npes - 1, goes = me == 0;
    if (strcmp(what, "heap") == 0)
        heap(words, words + 64, words + 1);
    else if (strcmp(what, "p") == 0 && goes)
        shmem_long_p(&here, 1, last);
    else if (strcmp(what, "put") == 0 && goes)
        shmem_long_put(source, words, 4, last);
    else if (strcmp(what, "get") == 0 && goes)
        shmem_long_get(words, source, 4, last);
    else if (strcmp(what, "iput") == 0 && goes)
        shmem_long_iput(source, words, 2, 1, 2, last);
    else if (strcmp(what, "atomic") == 0 && goes)
        shmem_long_atomic_inc(&here, last);
    else if (strcmp(what, "lock") == 0)
        shmem_set_lock(&lock);
    else if (strcmp(what, "broadcast") == 0)
        shmem_long_broadcast(SHMEM_TEAM_WORLD, words, big, BIG, 0);
    else if (strcmp(what, "barrier") == 0 && (me == 0 || me == last))
        shmem_barrier(0, 1, 2, psync);
#if PART == 2
    before[me] = 1;
#endif
    shmem_barrier_all();
    shmem_free(words);
    shmem_finalize();
    return 0;
}
