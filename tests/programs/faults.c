/* faults SEED STEPS PE STEP HOW [late]: works, a random operation a step; on PE at STEP it does
 * HOW. Step -1 is before the start, where some PEs arrive late if that is said, step STEPS
 * before the end and STEPS + 1 after it. A PE that comes to the end says so. What was computed
 * wrongly ends it with status 99. */
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N = 1024 };
static long dest[N], source[N], inbox[N], lock, counter, token, sums[N];
static uint64_t state;
static int *volatile nowhere;

static unsigned below(unsigned bound)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % bound;
}

static void wrong(const char *what, int step)
{
    fprintf(stderr, "PE %d: wrong %s at step %d\n", shmem_my_pe(), what, step);
    exit(99);
}

static void fail(const char *how, char **argv)
{
#define IS(name) (strcmp(how, name) == 0)
    if (IS("exit0")) exit(0);
    if (IS("exit7")) exit(7);
    if (IS("_exit0")) _exit(0);
    if (IS("_exit7")) _exit(7);
    if (IS("abort")) abort();
    if (IS("segv")) *nowhere = 1;
    if (IS("kill")) raise(SIGKILL);
    if (IS("term")) raise(SIGTERM);
    if (IS("global_exit")) shmem_global_exit(9);
    if (IS("exec")) execl("/bin/true", "true", (char *)NULL);
    if (IS("exec_self")) {
        argv[5] = "nothing";
        execv(argv[0], argv);
    }
    if (IS("closefrom")) syscall(SYS_close_range, 3u, ~0u, 0);
    if (IS("close_output")) close(1);
    if (IS("fork") && fork() == 0) _exit(3);
    if (IS("stop")) raise(SIGSTOP);
}

/* This PE's number before shmem_init, as the launchers tell it. */
static int early_number(void)
{
    static const char *const names[] = {"ONESHMEM_PE", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
    return 0;
}

static void work(int step, int me, int npes)
{
    int next = (me + 1) % npes;
    long *block;
    shmem_team_t team;
    switch (below(11)) {
    case 0:
        shmem_barrier_all();
        break;
    case 1:
        source[0] = step;
        shmem_long_put(inbox, source, 1 + below(N), next);
        shmem_barrier_all();
        if (inbox[0] != step) wrong("put", step);
        shmem_barrier_all();
        break;
    case 2:
        source[0] = me + step;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
        if (dest[0] != (long)npes * step + (long)npes * (npes - 1) / 2) wrong("sum", step);
        break;
    case 3: {
        int root = (int)below((unsigned)npes);
        source[0] = root == me ? 7 * step : -1;
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 1 + below(64), root);
        if (dest[0] != 7 * step) wrong("broadcast", step);
        break;
    }
    case 4:
        shmem_set_lock(&lock);
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
        break;
    case 5:
        block = shmem_malloc(64 + below(10000));
        if (block != NULL) shmem_long_p(block, step, next);
        shmem_free(block);
        break;
    case 6:
        shmem_long_atomic_inc(&token, next);
        sums[0]++;
        shmem_long_wait_until(&token, SHMEM_CMP_GE, sums[0]);
        break;
    case 7:
        if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) == 0) {
            shmem_team_sync(team);
            shmem_team_destroy(team);
        }
        break;
    case 8:
        source[0] = me;
        shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 1);
        if (dest[npes - 1] != npes - 1) wrong("fcollect", step);
        shmem_barrier_all();
        break;
    case 9:
        shmem_getmem(dest, source, below(sizeof dest), next);
        break;
    default:
        usleep(below(1000));
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) return 2;
    state = strtoull(argv[1], NULL, 10);
    int steps = atoi(argv[2]), who = atoi(argv[3]), at = atoi(argv[4]);
    if (argc > 6) usleep((unsigned)getpid() * 7919u % 40000u);
    if (at == -1 && early_number() == who) fail(argv[5], argv);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int step = 0; step < steps; step++) {
        if (me == who && step == at) fail(argv[5], argv);
        work(step, me, npes);
    }
    if (me == who && at == steps) fail(argv[5], argv);
    shmem_barrier_all();
    shmem_finalize();
    if (me == who && at == steps + 1) fail(argv[5], argv);
    printf("done PE %d\n", me);
    return 0;
}
