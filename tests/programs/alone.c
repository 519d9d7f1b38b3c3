/* Collectives of PEs that are alone on their nodes, while their agents are stopped: the steps do not need them. */
#include <dirent.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES 2000

static long mine[4], sums[4];

/* The agent of this node: a child of this PE's parent. */
static pid_t agent(void)
{
    DIR *processes = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; processes != NULL && found == 0 && (entry = readdir(processes)) != NULL;) {
        char path[300], name[32];
        int parent;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *stat = fopen(path, "r");
        if (stat == NULL)
            continue;
        if (fscanf(stat, "%*d (%31[^)]) %*c %d", name, &parent) == 2 && parent == getppid() && !strcmp(name, "oshrun-agent"))
            found = atoi(entry->d_name);
        fclose(stat);
    }
    closedir(processes);
    return found;
}

static void collectives(int me, int npes, int times)
{
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < 4; k++)
            mine[k] = (long)(me + 1) * (i + k);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, mine, 4);
        for (int k = 0; k < 4; k++)
            if (sums[k] != (long)npes * (npes + 1) / 2 * (i + k)) {
                fprintf(stderr, "PE %d: sum %d of round %d is %ld\n", me, k, i, sums[k]);
                shmem_global_exit(1);
            }
        shmem_barrier_all();
    }
}

int main(void)
{
    for (int lifetime = 0; lifetime < 2; lifetime++) {
        shmem_init();
        int me = shmem_my_pe(), npes = shmem_n_pes();
        collectives(me, npes, 2);
        usleep(300000); /* The agents complete what they got, and the PEs connect to each other. */
        collectives(me, npes, 2);
        usleep(300000);
        pid_t stopped = agent();
        if (stopped == 0 || kill(stopped, SIGSTOP) != 0) {
            fprintf(stderr, "PE %d cannot stop its agent\n", me);
            shmem_global_exit(1);
        }
        collectives(me, npes, TIMES);
        kill(stopped, SIGCONT);
        shmem_finalize();
    }
    return 0;
}
