/* stands HOW: a job that stands still, because PE 1 does not do what the others wait for, for
 * ever, or until it dies (HOW ends with -killed, -fault or -abort). */
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static long never, lock;
static long psync[SHMEM_SYNC_SIZE];

__attribute__((noinline)) void culprit(int *where)
{
    *where = 1;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const char *how = argv[1], *end = strchr(how, '-');
    int length = end ? (int)(end - how) : (int)strlen(how);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#define IS(name) (strncmp(how, name, length) == 0 && name[length] == '\0')
    const char *pe = getenv("ONESHMEM_PE");
    if (IS("init") && pe != NULL && strncmp(pe, "1:", 2) == 0)
        sleep(1000);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int *heap = shmem_malloc(64);
    if (me == 1)
        shmem_set_lock(&lock);
    shmem_team_t odd, even;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &even);
    if (me == 1) {
        sleep(1);
        if (end != NULL && strcmp(end, "-killed") == 0)
            raise(SIGKILL);
        if (end != NULL && strcmp(end, "-fault") == 0)
            culprit((int *)8);
        if (end != NULL && strcmp(end, "-abort") == 0)
            abort();
        if (end != NULL && strcmp(end, "-misuse") == 0)
            shmem_long_p(&never, 1, npes);
        sleep(1000);
    }
    if (IS("barrier"))
        shmem_barrier_all();
    if (IS("team") && odd != SHMEM_TEAM_INVALID)
        shmem_team_sync(odd);
    if (IS("set"))
        shmem_sync(0, 0, npes, psync);
    if (IS("subset") && me != 0)
        shmem_sync(1, 0, npes - 1, psync);
    if (IS("wait"))
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (IS("heap"))
        shmem_int_wait_until(heap, SHMEM_CMP_EQ, -1);
    if (IS("lock"))
        shmem_set_lock(&lock);
    if (IS("test"))
        while (!shmem_long_test(&never, SHMEM_CMP_NE, 0))
            ;
    if (IS("napping"))
        while (!shmem_long_test(&never, SHMEM_CMP_NE, 0))
            usleep(200);
    /* The others: they test, too, but do not wait for what they test. */
    if (IS("computing"))
        while (!shmem_long_test(&never, SHMEM_CMP_NE, 0))
            for (volatile int i = 0; i < 200000; i++)
                ;
    if (IS("collectives") && me != 3)
        while (!shmem_long_test(&never, SHMEM_CMP_NE, 0))
            shmem_team_sync(even);
    sleep(1000);
}
