/* packets MOST: how many packets a node sends for a collective of 8 bytes a PE, over two nodes whose interfaces
 * nobody else uses; at most MOST. On active sets and on teams. Packets without data, which acknowledge, count,
 * too. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 500, MOST_PES = 16 };
static long source[MOST_PES], dest[MOST_PES], psync[2][SHMEM_SYNC_SIZE];
static long work_array[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

/* Packets sent by all interfaces but the loopback one. */
static long sent(void)
{
    FILE *file = fopen("/proc/net/dev", "r");
    char line[512];
    long all = 0, packets;
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && !strstr(line, " lo:")
            && sscanf(colon + 1, "%*d %*d %*d %*d %*d %*d %*d %*d %*d %ld", &packets) == 1)
            all += packets;
    }
    if (file)
        fclose(file);
    return all;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), failed = 0;
    double most = argc > 1 ? atof(argv[1]) : 0;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = SHMEM_SYNC_VALUE;

#define SET 0, 0, npes
#define WORLD SHMEM_TEAM_WORLD
#define COUNT(call)                                                              \
    do {                                                                         \
        long before = 0;                                                         \
        for (int i = -10; i < CALLS; i++) {                                      \
            if (i == 0) {                                                        \
                shmem_barrier_all();                                             \
                before = sent();                                                 \
            }                                                                    \
            call;                                                                \
        }                                                                        \
        shmem_barrier_all();                                                     \
        double each = (double)(sent() - before) / CALLS;                         \
        if (me == 0) {                                                           \
            printf("%.2f packets: %s\n", each, #call);                           \
            failed |= !(each > 0.5 && each <= most);                             \
        }                                                                        \
    } while (0)

    COUNT(shmem_sync_all());
    COUNT(shmem_barrier(SET, psync[i & 1]));
    COUNT(shmem_long_sum_reduce(WORLD, dest, source, 1));
    COUNT(shmem_long_sum_to_all(dest, source, 1, SET, work_array, psync[i & 1]));
    COUNT(shmem_long_broadcast(WORLD, dest, source, 1, 0));
    COUNT(shmem_broadcast64(dest, source, 1, 0, SET, psync[i & 1]));
    COUNT(shmem_long_fcollect(WORLD, dest, source, 1));
    COUNT(shmem_fcollect64(dest, source, 1, SET, psync[i & 1]));
    if (npes == 2) { /* alone on their nodes */
        COUNT(shmem_long_collect(WORLD, dest, source, 1));
        COUNT(shmem_collect64(dest, source, 1, SET, psync[i & 1]));
        COUNT(shmem_long_alltoall(WORLD, dest, source, 1));
        COUNT(shmem_alltoall64(dest, source, 1, SET, psync[i & 1]));
    }
    fflush(stdout);
    if (failed)
        shmem_global_exit(1);
    shmem_finalize();
    return 0;
}
