/* isort in OpenMP: threads deal their keys out to ranges of values, then sort a range each. */
#include "../problems.h"
#include <omp.h>

int main(int argc, char **argv)
{
    long total = argument(argc, argv, 1, 1L << 24);
    int threads = omp_get_max_threads();
    skey *keys = need(malloc(((size_t)total + 1) * sizeof *keys));
    skey *sorted = need(malloc(((size_t)total + 1) * sizeof *sorted));
    /* place[thread][range]: keys of a thread in a range, then where they go. */
    size_t *place = need(calloc((size_t)threads * (size_t)threads, sizeof *place));
    size_t *start = need(calloc((size_t)threads + 1, sizeof *start));
    double elapsed = 0;
    uint64_t before = 0, after = 0;
    long errors = 0;

#pragma omp parallel reduction(+ : before, after, errors) reduction(max : elapsed)
    {
        int me = omp_get_thread_num();
        long first = first_of(total, threads, me), end = first_of(total, threads, me + 1);
        for (long i = first; i < end; i++)
            keys[i] = key_number(i);
        before = checksum(keys + first, (size_t)(end - first));
#pragma omp barrier
        double began = seconds();
        size_t *mine = place + (size_t)me * (size_t)threads;
        for (long i = first; i < end; i++)
            mine[owner(keys[i], threads)]++;
#pragma omp barrier
#pragma omp single
        {
            size_t sum = 0;
            for (int range = 0; range < threads; range++) {
                start[range] = sum;
                for (int thread = 0; thread < threads; thread++) {
                    size_t *at = place + (size_t)thread * (size_t)threads + range;
                    size_t count = *at;
                    *at = sum;
                    sum += count;
                }
            }
            start[threads] = sum;
        }
        for (long i = first; i < end; i++)
            sorted[mine[owner(keys[i], threads)]++] = keys[i];
#pragma omp barrier
        /* The keys have been dealt out: their array is scratch memory now. */
        size_t have = start[me + 1] - start[me];
        sort_keys(sorted + start[me], keys + start[me], have);
#pragma omp barrier
        elapsed = seconds() - began;
        after = checksum(sorted + start[me], have);
        errors = out_of_order(sorted + start[me], have);
        if (have && start[me])
            errors += sorted[start[me] - 1] > sorted[start[me]];
    }
    return report("isort, OpenMP", elapsed, errors == 0 && before == after);
}
