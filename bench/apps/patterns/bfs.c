/* A breadth-first search in a graph like Graph500's: 2^scale vertices, 16 edges for each, drawn by the R-MAT recursion
 * (A 0.57, B and C 0.19), vertices dealt out in blocks. Level by level, a PE sends each owner the neighbours that its
 * new vertices have there. Checked: every edge joins vertices whose levels differ by at most one, and every
 * vertex reached has a neighbour one level nearer.
 *
 *   oshrun -n 4 ./bfs [scale] */
#include "../problems.h"
#include <shmem.h>

enum { DEGREE = 16 };

static long found, all_found, wrong, all_wrong, reached, all_reached;

/* Edge `i` of the graph: its ends. */
static void edge_number(long i, long scale, long *from, long *to)
{
    *from = *to = 0;
    for (long bit = 0; bit < scale; bit++) {
        double part = (double)(mix((uint64_t)(i * 64 + bit)) >> 11) / (double)(1L << 53);
        *from = *from * 2 + (part >= 0.76);
        *to = *to * 2 + (part >= 0.95 || (part >= 0.57 && part < 0.76));
    }
}

int main(int argc, char **argv)
{
    long scale = argument(argc, argv, 1, 14), vertices = 1L << scale, edges = vertices * DEGREE;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long share = (vertices + npes - 1) / npes, first = me * share, last = first + share < vertices ? first + share : vertices;
    long mine = last > first ? last - first : 0;
    /* The neighbours of this PE's vertices, one after the other. */
    long *start = need(calloc((size_t)mine + 2, sizeof *start)), *ends = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (long i = 0, v[2]; i < edges; i++) {
            edge_number(i, scale, &v[0], &v[1]);
            for (int k = 0; k < 2; k++)
                if (v[k] >= first && v[k] < last) {
                    if (pass == 0)
                        start[v[k] - first + 2]++;
                    else
                        ends[start[v[k] - first + 1]++] = v[!k];
                }
        }
        if (pass == 0) {
            for (long v = 0; v < mine; v++)
                start[v + 2] += start[v + 1];
            ends = need(calloc((size_t)start[mine + 1] + 1, sizeof *ends));
        }
    }
    /* The level of a vertex, -1 before it is reached; and, from each PE, which of this PE's vertices it has reached
     * in this level: a list with its length. */
    int *level = shmem_malloc((size_t)share * sizeof *level);
    long *inbox = shmem_malloc((size_t)(npes * share) * sizeof *inbox), *count = shmem_calloc((size_t)npes, sizeof *count);
    long *out = need(malloc((size_t)(npes * share) * sizeof *out)), *outs = need(calloc((size_t)npes, sizeof *outs));
    unsigned char *sent = need(calloc((size_t)vertices + 1, 1));
    for (long v = 0; v < share; v++)
        level[v] = -1;
    if (first == 0)
        level[0] = 0;
    shmem_barrier_all();
    double begin = seconds();
    for (int depth = 0;; depth++) {
        for (int pe = 0; pe < npes; pe++)
            outs[pe] = 0;
        for (long v = 0; v < mine; v++)
            for (long e = start[v]; level[v] == depth && e < start[v + 1]; e++)
                if (!sent[ends[e]]) {
                    long owner = ends[e] / share;
                    sent[ends[e]] = 1;
                    out[owner * share + outs[owner]++] = ends[e] % share;
                }
        for (int i = 0, pe; i < npes; i++)
            if (outs[pe = (me + i) % npes] > 0) {
                shmem_long_put(inbox + me * share, out + pe * share, (size_t)outs[pe], pe);
                shmem_long_p(&count[me], outs[pe], pe);
            }
        shmem_barrier_all();
        found = 0;
        for (int pe = 0; pe < npes; pe++) {
            for (long i = 0; i < count[pe]; i++) {
                int *place = &level[inbox[pe * share + i]];
                found += *place < 0;
                *place = *place < 0 ? depth + 1 : *place;
            }
            count[pe] = 0;
        }
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_found, &found, 1);
        if (all_found == 0)
            break;
    }
    double elapsed = seconds() - begin;
    for (long v = 0; v < mine; v++) {
        int nearest = level[v] < 0 ? 0 : level[v];
        for (long e = start[v]; e < start[v + 1]; e++) {
            int other = shmem_int_g(&level[ends[e] % share], (int)(ends[e] / share));
            wrong += level[v] < 0 ? other >= 0 : abs(other - level[v]) > 1 || other < 0;
            nearest = other < nearest ? other : nearest;
        }
        reached += level[v] >= 0;
        wrong += level[v] > 0 && nearest != level[v] - 1;
    }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_reached, &reached, 1);
    if (me == 0)
        printf("%ld of %ld vertices reached: %.6f s, %s\n", all_reached, vertices, elapsed, all_wrong ? "WRONG" : "verified");
    int failed = all_wrong != 0;
    shmem_finalize();
    return failed;
}
