/*
 * isort: sorts whole numbers that are spread over all PEs.
 *
 *   oshcc -O2 isort.c -o isort && oshrun -n 4 ./isort [keys in total]
 *
 * 1. generate   every PE makes its share of the keys
 * 2. count      how many go to each PE, in whose range of values they fall
 * 3. deal       every PE reserves room on each PE, by an atomic fetch-and-add on
 *               its fill counter, and stores the keys there, where shmem_ptr says
 *               that they go; for PEs on other nodes it groups and puts them
 * 4. sort       every PE sorts what it received
 * 5. verify     in order within PEs and across them, none lost, none invented
 *
 * Afterwards PE 0 has the smallest keys, the last PE the largest.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint32_t skey;
#define DEFAULT_KEYS (1L << 24)
#define KEY_BITS 28 /* keys are below 2^28 */

/* Symmetric variables: other PEs name them by these addresses. */
static long received;                /* keys reserved in my receive buffer so far */
static long capacity, all_capacity;  /* room for keys in it */
static uint64_t before[2], after[2]; /* count and checksum, before and after */
static uint64_t all_before[2], all_after[2];
static long from_before[2]; /* flag and largest key, from the PE before me */
static long errors, all_errors;
static double sorting; /* seconds for phases 2 to 4, on this PE */
static double longest; /* the same, the longest of all PEs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A well mixed function of its argument (splitmix64): the same keys on every
 * run, and a checksum that notices a changed key. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "PE %d: not enough memory for this many keys\n", shmem_my_pe());
        shmem_global_exit(1);
    }
    return memory;
}

/* The PE in whose range a key falls. */
static int owner(skey key, int npes)
{
    return (int)(((uint64_t)key * (uint64_t)npes) >> KEY_BITS);
}

/* Sorts by digits of 11 bits, the least significant first: 3 passes for 28 bits. */
static void sort(skey *keys, skey *scratch, size_t n)
{
    enum { DIGIT = 11, BINS = 1 << DIGIT };
    static size_t start[BINS];
    skey *from = keys, *to = scratch;
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT) {
        memset(start, 0, sizeof start);
        for (size_t i = 0; i < n; i++)
            start[(from[i] >> shift) % BINS]++;
        size_t sum = 0;
        for (int b = 0; b < BINS; b++) {
            size_t count = start[b];
            start[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[start[(from[i] >> shift) % BINS]++] = from[i];
        skey *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
}

static void count_and_sum(const skey *keys, size_t n, uint64_t result[2])
{
    result[0] = n;
    result[1] = 0;
    for (size_t i = 0; i < n; i++)
        result[1] += mix(keys[i]);
}

int main(int argc, char **argv)
{
    long total = DEFAULT_KEYS;
    if (argc > 1) {
        char *end;
        total = strtol(argv[1], &end, 0);
        if (*end != '\0' || total < 0 || total > 1L << 40) {
            fprintf(stderr, "usage: isort [keys in total]\n");
            return 2;
        }
    }

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    double clock[6];

    /* 1. My share: keys number `first` up to `first + n` of the sequence. */
    shmem_barrier_all();
    clock[0] = seconds();
    long first = total / npes * me + (me < total % npes ? me : total % npes);
    size_t n = (size_t)(total / npes + (me < total % npes));
    size_t room = n + n / 8 + 1; /* later it is scratch memory for what I receive */
    skey *keys = need(calloc(room, sizeof *keys));
    for (size_t i = 0; i < n; i++)
        keys[i] = (skey)(mix((uint64_t)first + i) >> (64 - KEY_BITS));
    count_and_sum(keys, n, before);

    /* 2. How much will everyone receive? Each PE adds its keys on their owner; the
     * largest sum is the size of everyone's receive buffer, because blocks on the
     * symmetric heap have the same size on all PEs. */
    shmem_barrier_all();
    clock[1] = seconds();
    size_t *length = need(calloc((size_t)npes, sizeof *length));
    for (size_t i = 0; i < n; i++)
        length[owner(keys[i], npes)]++;
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_add(&capacity, (long)length[pe], pe);
    shmem_barrier_all();
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &all_capacity, &capacity, 1);

    /* 3. Where do my keys go? To the owner's memory, or to some of mine first.
     * shmem_calloc makes all pages of the receive buffer at once, which is faster than
     * a page fault for each. */
    clock[2] = seconds();
    skey *mine = need(shmem_calloc((size_t)all_capacity + 1, sizeof *mine));
    long *place = need(malloc((size_t)npes * sizeof *place));
    skey **to = need(malloc((size_t)npes * sizeof *to));
    for (int k = 0; k < npes; k++) {
        int pe = (me + k) % npes; /* everyone starts elsewhere, to spread the load */
        skey *theirs = shmem_ptr(mine, pe); /* NULL on another node */
        place[pe] = shmem_long_atomic_fetch_add(&received, (long)length[pe], pe);
        to[pe] = theirs ? theirs + place[pe] : need(malloc((length[pe] + 1) * sizeof *mine));
    }
    for (size_t i = 0; i < n; i++)
        *to[owner(keys[i], npes)]++ = keys[i];
    for (int pe = 0; pe < npes; pe++)
        if (shmem_ptr(mine, pe) == NULL) {
            skey *group = to[pe] - length[pe];
            shmem_putmem(&mine[place[pe]], group, length[pe] * sizeof *mine, pe);
            free(group);
        }
    shmem_barrier_all(); /* completes all stores and puts */

    /* 4. The keys have left their array, so it can serve again. */
    clock[3] = seconds();
    size_t have = (size_t)received;
    skey *scratch = have <= room ? keys : need(malloc(have * sizeof *scratch));
    sort(mine, scratch, have);
    shmem_barrier_all();
    clock[4] = seconds();
    sorting = clock[4] - clock[1];

    /* 5. In order here, within my range of values, and not below the PE before. */
    for (size_t i = 1; i < have; i++)
        errors += mine[i - 1] > mine[i];
    for (size_t i = 0; i < have; i++)
        errors += owner(mine[i], npes) != me;
    /* A PE without keys hands on the largest key before it, so that the next PE
     * still compares with the right one: hence in PE order, by a chain of puts. */
    long largest_before = -1;
    if (me > 0) {
        shmem_long_wait_until(&from_before[0], SHMEM_CMP_EQ, 1);
        largest_before = from_before[1];
    }
    errors += have && (long)mine[0] < largest_before;
    if (me + 1 < npes) {
        shmem_long_p(&from_before[1], have ? (long)mine[have - 1] : largest_before, me + 1);
        shmem_fence(); /* the value before the flag */
        shmem_long_atomic_set(&from_before[0], 1, me + 1);
    }
    count_and_sum(mine, have, after);
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all_before, before, 2);
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all_after, after, 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_errors, &errors, 1);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &longest, &sorting, 1);
    clock[5] = seconds();

    int wrong = all_errors != 0 || all_before[0] != (uint64_t)total ||
                all_before[0] != all_after[0] || all_before[1] != all_after[1];
    if (me == 0) {
        static const char *phase[] = {"generate", "count", "deal", "sort", "verify"};
        printf("%ld keys on %d PE%s\n", total, npes, npes == 1 ? "" : "s");
        for (int p = 0; p < 5; p++)
            printf("%10s  %8.4f s\n", phase[p], clock[p + 1] - clock[p]);
        if (wrong)
            printf("%ld keys out of order, %llu keys of %ld\n", all_errors,
                   (unsigned long long)all_after[0], total);
        printf("phases 2 to 4: %.6f s, %.3e keys/s, %s\n", longest, (double)total / longest,
               wrong ? "WRONG" : "verified");
    }
    shmem_free(mine);
    if (scratch != keys)
        free(scratch);
    free(to);
    free(place);
    free(length);
    free(keys);
    shmem_finalize();
    return wrong;
}
