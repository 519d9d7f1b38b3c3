// pes: 1 2 3 4 5 7 8 16
// cflags: -O1
// env: SHMEM_SYMMETRIC_SIZE=64m
/* Every algorithm of every collective gives the right result: on teams of several shapes,
 * at sizes around the thresholds where copies and algorithms change, in and out of place,
 * one call right after the other in the same arrays. rule 10.6 */
#include "coll.h"
#include <shmemx.h>

static struct group groups[GROUPS];
static int ngroups;
static long *source, *dest;

static const size_t sizes[] = {0, 1, 2, 13, 14, 15, 64, 140, 141, 255, 256, 257, 1023, 1024, 1025, 2500};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 2500 + MAX_PES };

static long given(int pe, size_t i) { return (long)(i * 31 % 1009) + pe * 7 + 1; }

/* Of this algorithm and team, the same on all its PEs. */
static long call_number;

static void fill(struct group g, size_t n)
{
    call_number++;
    for (size_t i = 0; i < n; i++)
        source[i] = given(g.me, i) + call_number;
}

static void expect(struct group g, const char *what, const char *algorithm, size_t n, size_t i,
                   long got, long want)
{
    if (got == want)
        return;
    fprintf(stderr, "PE %d of %d: %s by %s, %zu elements: element %zu is %ld, expected %ld\n", g.me,
            g.size, what, algorithm, n, i, got, want);
    check_end();
}

static void barrier(struct group g, const char *algorithm, size_t n)
{
    (void)n;
    for (int i = 0; i < check_rounds(20); i++) {
        dest[0] = ++call_number;
        shmem_team_sync(g.team);
        int next = (g.me + 1) % g.size;
        int pe = shmem_team_translate_pe(g.team, next, SHMEM_TEAM_WORLD);
        expect(g, "sync", algorithm, 0, 0, shmem_long_g(&dest[0], pe), call_number);
        shmem_team_sync(g.team);
    }
}

static void broadcast(struct group g, const char *algorithm, size_t n)
{
    int root = (int)(n + 1) % g.size;
    fill(g, n);
    dest[n] = -1;
    CHECK_EQ(shmem_long_broadcast(g.team, dest, source, n, root), 0);
    for (size_t i = 0; i < n; i++)
        expect(g, "broadcast", algorithm, n, i, dest[i], given(root, i) + call_number);
    CHECK_EQ(dest[n], -1);
}

static void collect(struct group g, const char *algorithm, size_t n)
{
    size_t at = 0, mine = g.me % 3 == 1 ? 0 : n + (size_t)g.me;
    fill(g, mine);
    CHECK_EQ(shmem_long_collect(g.team, dest, source, mine), 0);
    for (int pe = 0; pe < g.size; pe++) {
        size_t theirs = pe % 3 == 1 ? 0 : n + (size_t)pe;
        for (size_t i = 0; i < theirs; i++, at++)
            expect(g, "collect", algorithm, n, at, dest[at], given(pe, i) + call_number);
    }
}

static void fcollect(struct group g, const char *algorithm, size_t n)
{
    fill(g, n);
    CHECK_EQ(shmem_long_fcollect(g.team, dest, source, n), 0);
    for (int pe = 0; pe < g.size; pe++)
        for (size_t i = 0; i < n; i++)
            expect(g, "fcollect", algorithm, n, (size_t)pe * n + i, dest[(size_t)pe * n + i],
                   given(pe, i) + call_number);
}

static void alltoall(struct group g, const char *algorithm, size_t n)
{
    fill(g, n * (size_t)g.size);
    CHECK_EQ(shmem_long_alltoall(g.team, dest, source, n), 0);
    for (int pe = 0; pe < g.size; pe++)
        for (size_t i = 0; i < n; i++)
            expect(g, "alltoall", algorithm, n, (size_t)pe * n + i, dest[(size_t)pe * n + i],
                   given(pe, (size_t)g.me * n + i) + call_number);
}

static void alltoalls(struct group g, const char *algorithm, size_t n)
{
    fill(g, 2 * n * (size_t)g.size);
    CHECK_EQ(shmem_long_alltoalls(g.team, dest, source, 1, 2, n), 0);
    for (int pe = 0; pe < g.size; pe++)
        for (size_t i = 0; i < n; i++)
            expect(g, "alltoalls", algorithm, n, (size_t)pe * n + i, dest[(size_t)pe * n + i],
                   given(pe, 2 * ((size_t)g.me * n + i)) + call_number);
}

static void reduce(struct group g, const char *algorithm, size_t n)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        fill(g, n);
        long *to = in_place ? source : dest;
        CHECK_EQ(shmem_long_sum_reduce(g.team, to, source, n), 0);
        for (size_t i = 0; i < n; i++) {
            long want = 0;
            for (int pe = 0; pe < g.size; pe++)
                want += given(pe, i) + call_number;
            expect(g, "sum", algorithm, n, i, to[i], want);
        }
    }
}

static void scan(struct group g, const char *algorithm, size_t n)
{
    for (int form = 0; form < 4; form++) {
        int inclusive = form / 2;
        fill(g, n);
        long *to = form % 2 ? source : dest;
        if (inclusive)
            CHECK_EQ(shmem_long_sum_inscan(g.team, to, source, n), 0);
        else
            CHECK_EQ(shmem_long_sum_exscan(g.team, to, source, n), 0);
        for (size_t i = 0; i < n; i++) {
            long want = 0;
            for (int pe = 0; pe < g.me + inclusive; pe++)
                want += given(pe, i) + call_number;
            expect(g, inclusive ? "inscan" : "exscan", algorithm, n, i, to[i], want);
        }
    }
}

#define ALLTOALLS "direct", "shift", "shift_counter", "coloured", "coloured_counter", "xor", "xor_counter"
static const struct {
    const char *name;
    void (*test)(struct group, const char *, size_t);
    const char *algorithms[10]; /* and NULL */
} operations[] = {
    {"barrier", barrier,
     {"direct", "linear", "kary", "knomial", "grouped", "dissemination", "two_level"}},
    {"broadcast", broadcast,
     {"direct", "linear", "kary", "knomial", "binomial", "scatter_collect", "small", "two_level"}},
    {"collect", collect, {"direct", "linear", "ring", "bruck", "recursive_doubling", "two_level"}},
    {"fcollect", fcollect,
     {"direct", "linear", "ring", "bruck", "bruck_no_rotation", "recursive_doubling",
      "neighbour_exchange", "small", "two_level"}},
    {"alltoall", alltoall, {ALLTOALLS, "small"}},
    {"alltoalls", alltoalls, {ALLTOALLS}},
    {"reduce", reduce,
     {"sliced", "linear", "binomial", "recursive_doubling", "rabenseifner", "whole", "small",
      "two_level"}},
    {"scan", scan, {"direct", "linear", "recursive_doubling", "small", "two_level"}},
};

static int power_of_two(int n) { return (n & (n - 1)) == 0; }

/* Whether the algorithm is one for so many PEs and bytes. */
static int serves(const char *operation, const char *algorithm, int pes, size_t bytes)
{
    if (!strncmp(algorithm, "xor", 3) ||
        (strstr(operation, "collect") && !strcmp(algorithm, "recursive_doubling")))
        return power_of_two(pes);
    if (!strcmp(algorithm, "neighbour_exchange"))
        return pes % 2 == 0;
    if (!strcmp(algorithm, "small"))
        return bytes * (strcmp(operation, "alltoall") ? 1 : (size_t)pes) <= 1120;
    return strcmp(algorithm, "whole") || bytes <= 8192;
}

int main(void)
{
    shmem_init();
    size_t npes = (size_t)shmem_n_pes();
    source = shmem_malloc(2 * MOST * npes * sizeof *source);
    dest = shmem_malloc(MOST * npes * sizeof *dest);
    CHECK(source && dest);
    ngroups = make_groups(groups);
    CHECK(shmemx_set_algorithm("gather", "linear") != 0);
    CHECK(shmemx_set_algorithm("scan", "bruck") != 0);
    CHECK(shmemx_set_algorithm(NULL, "linear") != 0);
    CHECK(shmemx_set_algorithm("scan", NULL) != 0);

    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (int a = 0; operations[o].algorithms[a]; a++) {
            const char *algorithm = operations[o].algorithms[a];
            CHECK_EQ(shmemx_set_algorithm(operations[o].name, algorithm), 0);
            for (int k = 0; k < ngroups; k++) {
                call_number = 1000 * a;
                int step = check_far() ? 3 : 1;
                for (int s = (a + k) % step; s < SIZES; s += step)
                    if (serves(operations[o].name, algorithm, groups[k].size, sizes[s] * sizeof(long)))
                        operations[o].test(groups[k], algorithm, sizes[s]);
            }
            CHECK_EQ(shmemx_set_algorithm(operations[o].name, "auto"), 0);
        }
    shmem_finalize();
    return 0;
}
