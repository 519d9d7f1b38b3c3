// pes: 2 3 4 7 8 16
// cflags: -O1 -pthread
// env: SHMEM_SYMMETRIC_SIZE=64m
// case: short 1
/* coll_mix [seconds]: a random mix of collectives by three threads a PE at once, each with
 * overlapping teams of its own, with other algorithms every round. CHECK_SEED repeats it;
 * give it an hour to look for what a second does not find. rule 2.8, rule 10.6 */
#include "check.h"
#include <pthread.h>
#include <shmemx.h>
#include <time.h>

enum { THREADS = 3, TEAMS = 6, STEPS = 40, MOST = 3000 };

static struct lane { /* a thread's own */
    shmem_team_t teams[TEAMS];
    long *source, *dest;
    uint64_t seed;
    long steps;
} lanes[THREADS];
static int me, npes;

static long given(uint64_t step, int pe, size_t i)
{
    return (long)(check_mix(step * 64 + (uint64_t)pe) % 100003) + (long)(i * 31 % 1009);
}

static void expect(const char *what, uint64_t step, size_t i, long got, long want)
{
    if (got == want)
        return;
    fprintf(stderr, "PE %d: %s in step %#llx of seed %llu: element %zu is %ld, expected %ld\n", me,
            what, (unsigned long long)step, (unsigned long long)check_seed(), i, got, want);
    check_end();
}

static long sum(uint64_t step, int members, size_t i)
{
    long all = 0;
    for (int pe = 0; pe < members; pe++)
        all += given(step, pe, i);
    return all;
}

/* One collective of a team, by all its PEs with the same random numbers. */
static void collective(struct lane *lane, shmem_team_t team, uint64_t step, uint64_t random)
{
    int pe = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    size_t most = random % 8 ? 200 : MOST, n = random / 8 % most, in_place = random / 64 % 2;
    long *in = lane->source, *out = in_place ? in : lane->dest;
    for (size_t i = 0; i < n * (size_t)size; i++)
        in[i] = given(step, pe, i);
    switch (random / 128 % 8) {
    case 0:
        CHECK_EQ(shmem_team_sync(team), 0);
        break;
    case 1: {
        int root = (int)(random / 1024 % (uint64_t)size);
        CHECK_EQ(shmem_long_broadcast(team, lane->dest, in, n, root), 0);
        for (size_t i = 0; i < n; i++)
            expect("broadcast", step, i, lane->dest[i], given(step, root, i));
        break;
    }
    case 2:
        CHECK_EQ(shmem_long_fcollect(team, lane->dest, in, n), 0);
        for (size_t i = 0; i < n * (size_t)size; i++)
            expect("fcollect", step, i, lane->dest[i], given(step, (int)(i / n), i % n));
        break;
    case 3: {
        size_t at = 0;
        CHECK_EQ(shmem_long_collect(team, lane->dest, in, n % (size_t)(pe + 2)), 0);
        for (int from = 0; from < size; from++)
            for (size_t i = 0; i < n % (size_t)(from + 2); i++, at++)
                expect("collect", step, at, lane->dest[at], given(step, from, i));
        break;
    }
    case 4:
        CHECK_EQ(shmem_long_alltoall(team, lane->dest, in, n), 0);
        for (size_t i = 0; i < n * (size_t)size; i++)
            expect("alltoall", step, i, lane->dest[i],
                   given(step, (int)(i / n), (size_t)pe * n + i % n));
        break;
    case 5:
        CHECK_EQ(shmem_long_alltoalls(team, lane->dest, in, 1, 1, n), 0);
        for (size_t i = 0; i < n * (size_t)size; i++)
            expect("alltoalls", step, i, lane->dest[i],
                   given(step, (int)(i / n), (size_t)pe * n + i % n));
        break;
    case 6:
        CHECK_EQ(shmem_long_sum_reduce(team, out, in, n), 0);
        for (size_t i = 0; i < n; i++)
            expect("sum", step, i, out[i], sum(step, size, i));
        break;
    default:
        CHECK_EQ(shmem_long_sum_inscan(team, out, in, n), 0);
        for (size_t i = 0; i < n; i++)
            expect("inscan", step, i, out[i], sum(step, pe + 1, i));
    }
}

static void *work(void *argument)
{
    struct lane *lane = argument;
    for (int s = 0; s < STEPS; s++) {
        /* All PEs draw the same numbers, members of the team or not. */
        uint64_t team = check_random(&lane->seed, TEAMS);
        uint64_t random = check_random(&lane->seed, UINT64_MAX);
        if (lane->teams[team] != SHMEM_TEAM_INVALID)
            collective(lane, lane->teams[team], lane->seed, random);
        lane->steps++;
    }
    return NULL;
}

static const char *const algorithms[][8] = {
    {"barrier", "auto", "linear", "kary", "knomial", "grouped", "dissemination"},
    {"broadcast", "auto", "linear", "kary", "knomial", "binomial", "scatter_collect"},
    {"collect", "auto", "linear", "ring", "bruck"},
    {"fcollect", "auto", "linear", "ring", "bruck", "bruck_no_rotation"},
    {"alltoall", "auto", "shift", "shift_counter", "coloured", "coloured_counter"},
    {"alltoalls", "auto", "shift", "shift_counter", "coloured", "coloured_counter"},
    {"reduce", "auto", "sliced", "linear", "binomial", "recursive_doubling", "rabenseifner"},
    {"scan", "auto", "linear", "recursive_doubling"},
};

static void other_algorithms(uint64_t *seed)
{
    for (size_t o = 0; o < sizeof algorithms / sizeof *algorithms; o++) {
        int count = 0;
        while (count < 7 && algorithms[o][count + 1])
            count++;
        const char *name = algorithms[o][1 + check_random(seed, (uint64_t)count)];
        CHECK_EQ(shmemx_set_algorithm(algorithms[o][0], name), 0);
    }
}

int main(int argc, char **argv)
{
    int provided;
    static int go_on;
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    uint64_t seed = check_seed();
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe(), npes = shmem_n_pes();
    for (int t = 0; t < THREADS; t++) {
        size_t bytes = (size_t)npes * MOST * sizeof(long);
        lanes[t].source = shmem_malloc(bytes);
        lanes[t].dest = shmem_malloc(bytes);
        CHECK(lanes[t].source && lanes[t].dest);
        lanes[t].seed = check_random(&seed, UINT64_MAX);
        for (int k = 0; k < TEAMS; k++) {
            int size = k == 0 ? npes : 1 + (int)check_random(&seed, (uint64_t)npes);
            int stride = size == 1 ? 1 : 1 + (int)check_random(&seed, (uint64_t)((npes - 1) / (size - 1)));
            int start = (int)check_random(&seed, (uint64_t)(npes - (size - 1) * stride));
            if (k % 2) { /* backwards */
                start += (size - 1) * stride;
                stride = -stride;
            }
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0,
                                              &lanes[t].teams[k]), 0);
        }
    }
    do {
        pthread_t threads[THREADS];
        other_algorithms(&seed);
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(pthread_create(&threads[t], NULL, work, &lanes[t]), 0);
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(pthread_join(threads[t], NULL), 0);
        shmem_barrier_all();
        int more = time(NULL) < end;
        for (int pe = 0; me == 0 && pe < npes; pe++)
            shmem_int_p(&go_on, more, pe);
        shmem_barrier_all();
    } while (go_on);
    if (me == 0)
        printf("seed %llu: %ld steps a thread\n", (unsigned long long)check_seed(), lanes[0].steps);
    shmem_finalize();
    return 0;
}
