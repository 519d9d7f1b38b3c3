/* gups in OpenMP: updates by atomic exclusive or. */
#include "../problems.h"
#include <omp.h>

static void update(uint64_t *table, uint64_t share, int threads, uint64_t updates, int me)
{
    for (uint64_t u = 0; u < updates; u++) {
        uint64_t random = update_number(me, u);
        uint64_t part = (uint64_t)update_owner(random, threads);
        uint64_t *word = &table[part * share + update_word(random, share)];
#pragma omp atomic
        *word ^= random;
    }
}

int main(int argc, char **argv)
{
    int threads = omp_get_max_threads();
    uint64_t asked = (uint64_t)1 << argument(argc, argv, 1, 18);
    uint64_t share = (asked + (uint64_t)threads - 1) / (uint64_t)threads;
    uint64_t words = share * (uint64_t)threads;
    uint64_t *table = need(malloc(words * sizeof *table));
    double elapsed = 0;
    long changed = 0, errors = 0;

#pragma omp parallel reduction(+ : changed, errors) reduction(max : elapsed)
    {
        int me = omp_get_thread_num();
        uint64_t first = share * (uint64_t)me, end = first + share;
        for (uint64_t i = first; i < end; i++)
            table[i] = i;
#pragma omp barrier
        double start = seconds();
        update(table, share, threads, 4 * share, me);
#pragma omp barrier
        elapsed = seconds() - start;
        for (uint64_t i = first; i < end; i++)
            changed += table[i] != i;
#pragma omp barrier
        update(table, share, threads, 4 * share, me);
#pragma omp barrier
        for (uint64_t i = first; i < end; i++)
            errors += table[i] != i;
    }
    return report("gups, OpenMP", elapsed, changed && !errors);
}
