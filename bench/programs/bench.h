/* What the benchmark programs share: arguments, pinning, the measuring engine and the lines it prints. Standard C and
 * OpenSHMEM only, so that the programs build with any implementation's oshcc. With BENCH_RAW they run over plain shared
 * memory (raw.h), with BENCH_MPI those of collectives over MPI (over_mpi.h).
 *
 *   RESULT name size pes unit min median mean max samples
 *   SKIP   name reason       not measured: the implementation has it not
 *   DONE                     every check has passed; whatever happens after this line happened after the benchmark
 *
 * Arguments are key=value: ms= (time for one point), sizes=a,b,... (in ascending order), iters= (where a program counts),
 * each= (every one of so many messages is a sample, where one follows from the other), window= (transfers before a quiet),
 * cache= (bytes that a pass through the caches takes), alter=1 (each collective alone, with data that every PE has just
 * written), only=name,name,... (these points), cpus=0,1,... (PE i is pinned to the i-th; not pinned if there are fewer CPUs
 * than PEs). */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#error "compile with -D_GNU_SOURCE"
#endif

#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_MAX_PES 1024
#define BENCH_MAX_SAMPLES 65536
#define BENCH_SAMPLES 20 /* of a point, if nothing else is asked for */

/* The job, and what the arguments say. */
static struct {
    int pe, npes, partner; /* whom PE 0 works with: the first of the second half, which may be on another node */
    double init;           /* how long the job took to begin here */
    double ms;
    long iters, each, window;
    size_t cache, max; /* the largest size */
    long alter;
    const char *only, *sizes;
} bench = {.npes = 1, .ms = 20, .iters = 256, .cache = 8u << 20, .sizes = "8,64,512,4096,32768,262144,4194304"};

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* What the engine needs from the job: its begin, which says who this is among how many, and its end; a barrier; every PE's figure
 * brought to PE 0, and PE 0's to everyone; memory that others reach, if there is any; the end on a failure. */
static inline void bench_begin_job(int argc, char **argv);
static inline void bench_leave_job(void);
static inline void bench_barrier(void);
static inline const double *bench_gather(double mine);
static inline void *bench_pages(size_t bytes);
static inline void bench_end_job(void);
static inline void bench_check(int holds, const char *format, ...);

#if defined(BENCH_RAW)
#include "raw.h"
#elif defined(BENCH_MPI)
#include "over_mpi.h"
#else
#include <shmem.h>

/* 105 is OpenSHMEM 1.5: teams, signals, vectors of waits. */
#define BENCH_SHMEM (SHMEM_MAJOR_VERSION * 100 + SHMEM_MINOR_VERSION)

static inline void bench_barrier(void) { shmem_barrier_all(); }
static inline void bench_end_job(void) { shmem_global_exit(1); }
static inline void *bench_pages(size_t bytes) { return shmem_align(4096, bytes); }

static inline void bench_begin_job(int argc, char **argv)
{
    (void)argc, (void)argv;
    shmem_init();
    bench.pe = shmem_my_pe();
    bench.npes = shmem_n_pes();
}

static inline void bench_leave_job(void)
{
    shmem_barrier_all(); /* what others do at their end comes after what PE 0 has said */
    shmem_finalize();
}

static inline const double *bench_gather(double mine)
{
    static double figures[BENCH_MAX_PES];
    shmem_double_p(&figures[bench.pe], mine, 0);
    shmem_barrier_all();
    figures[0] = shmem_double_g(&figures[0], 0);
    return figures;
}
#endif

/* PE 0's decision. */
static inline long bench_agree(long decision)
{
    decision = (long)bench_gather((double)decision)[0];
    bench_barrier();
    return decision;
}

/* Memory, zeroed, aligned to a page; symmetric where there is such memory. */
static inline void *bench_alloc(size_t bytes)
{
    void *memory = bench_pages((bytes + 4095) & ~(size_t)4095);
    bench_check(memory != NULL, "no memory for %zu bytes", bytes);
    memset(memory, 0, bytes);
    bench_barrier();
    return memory;
}

/* A check of data: says what is wrong and ends the job. */
static inline void bench_check(int holds, const char *format, ...)
{
    if (holds)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "FAILED PE %d: ", bench.pe);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    bench_end_job();
}

static inline void bench_skip(const char *name, const char *reason)
{
    if (bench.pe == 0)
        printf("SKIP %s %s\n", name, reason);
}

/* Pins this process to the PE-th CPU of a comma-separated list. */
static inline void bench_pin(const char *list)
{
    int cpus[BENCH_MAX_PES], count = 0;
    for (char *end; *list != '\0' && count < BENCH_MAX_PES; list = *end ? end + 1 : end) {
        cpus[count++] = (int)strtol(list, &end, 10);
        bench_check(*end == '\0' || *end == ',', "cpus=: not a list of CPUs: %s", list);
    }
    if (bench.npes > count)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[bench.pe], &set);
    bench_check(sched_setaffinity(0, sizeof set, &set) == 0, "cannot pin to CPU %d", cpus[bench.pe]);
}

static inline void bench_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        bench_check(value != NULL, "argument %s is not key=value", argv[i]);
        size_t key = (size_t)(value++ - argv[i]);
#define BENCH_KEY(name) (key == sizeof name - 1 && memcmp(argv[i], name, key) == 0)
        if (BENCH_KEY("ms")) bench.ms = atof(value);
        else if (BENCH_KEY("iters")) bench.iters = atol(value);
        else if (BENCH_KEY("each")) bench.each = atol(value);
        else if (BENCH_KEY("window")) bench.window = atol(value);
        else if (BENCH_KEY("cache")) bench.cache = strtoull(value, NULL, 10);
        else if (BENCH_KEY("alter")) bench.alter = atol(value);
        else if (BENCH_KEY("only")) bench.only = value;
        else if (BENCH_KEY("sizes")) bench.sizes = value;
        else if (BENCH_KEY("cpus")) bench_pin(value);
        else if (!BENCH_KEY("pes")) bench_check(0, "unknown argument %s", argv[i]);
#undef BENCH_KEY
    }
    const char *last = strrchr(bench.sizes, ',');
    bench.max = strtoull(last != NULL ? last + 1 : bench.sizes, NULL, 10);
    bench_check(bench.ms > 0 && bench.iters > 0 && bench.iters <= BENCH_MAX_SAMPLES && bench.each >= 0 &&
                    bench.each <= BENCH_MAX_SAMPLES && bench.window >= 0 && bench.max > 0,
                "an argument is out of range");
    bench.partner = bench.npes / 2;
}

static inline void bench_start(int argc, char **argv)
{
    /* PEs that share CPUs begin with a time slice of their own. What other PEs do before it is no cost of the beginning;
     * what it waits for is. */
    sched_yield();
    double start = bench_now();
    bench_begin_job(argc, argv);
    bench.init = bench_now() - start;
    bench_check(bench.npes <= BENCH_MAX_PES, "more than %d PEs", BENCH_MAX_PES);
    bench_arguments(argc, argv);
    bench_barrier();
}

static inline void bench_finish(void)
{
    bench_barrier();
    if (bench.pe == 0) {
        printf("DONE\n");
        fflush(stdout);
    }
    bench_leave_job();
}

static inline int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the summary of the samples taken. */
static inline void bench_report(const char *name, size_t size, const char *unit, double *sample, long count)
{
    double sum = 0;
    qsort(sample, (size_t)count, sizeof *sample, bench_ascending);
    for (long i = 0; i < count; i++)
        sum += sample[i];
    double median = (sample[(count - 1) / 2] + sample[count / 2]) / 2;
    printf("RESULT %s %zu %d %s %.6g %.6g %.6g %.6g %ld\n", name, size, bench.npes, unit, sample[0], median,
           sum / (double)count, sample[count - 1], count);
    fflush(stdout);
}

enum { BENCH_FIRST, BENCH_MEAN, BENCH_SLOWEST };
enum { BENCH_NS, BENCH_MOPS, BENCH_MBPS };

/* One point to measure. */
struct bench_point {
    const char *name;
    /* Called by every PE: does n operations, or its part in them. PEs without a part return at once. */
    void (*op)(long n);
    /* Called by every PE before each sample, outside the timed part; may be NULL. */
    void (*prepare)(void);
    size_t size;
    /* Whose time counts: that of PE 0, the mean over the PEs, or the slowest's. */
    int whose;
    /* Nanoseconds for one, or how many: millions a second, megabytes a second. */
    int unit;
    /* How many such things (half round trips, messages, bytes) one operation is. */
    double weight;
    /* Samples of exactly one operation each, so many; 0: the engine chooses. */
    long exactly;
    /* An operation begins only when the one before has come back: with each=, PE 0 times every one. */
    int chained;
};

static inline double bench_sample(const struct bench_point *p, long n)
{
    if (p->prepare != NULL)
        p->prepare();
    bench_barrier();
    double start = bench_now();
    p->op(n);
    double mine = bench_now() - start;
    if (p->whose == BENCH_FIRST) {
        bench_barrier();
        return mine;
    }
    const double *all = bench_gather(mine);
    double sum = 0, slowest = 0;
    for (int pe = 0; bench.pe == 0 && pe < bench.npes; pe++) {
        sum += all[pe];
        slowest = all[pe] > slowest ? all[pe] : slowest;
    }
    bench_barrier();
    return p->whose == BENCH_MEAN ? sum / bench.npes : slowest;
}

/* Every one of so many operations is a sample: the worst message shows, too. Some come before that, untimed. */
static inline void bench_each(const struct bench_point *p, double *sample)
{
    bench_barrier();
    p->op(bench.each / 10 + 1);
    for (long i = 0; i < bench.each; i++) {
        double start = bench_now();
        p->op(1);
        sample[i] = (bench_now() - start) / p->weight;
    }
    bench_barrier();
    if (bench.pe == 0)
        bench_report(p->name, p->size, "ns", sample, bench.each);
}

/* Measures one point: grows the batch until it fills its share of the time,
 * which also warms everything up, then takes the samples; on a machine that is busy with
 * other things, where all that is between samples takes long, fewer. PE 0 decides. */
static inline void bench_measure(struct bench_point p)
{
    static const char *const units[] = {"ns", "Mop/s", "MB/s"};
    static double sample[BENCH_MAX_SAMPLES];
    long batch = 1, samples = p.exactly;
    if (p.chained && bench.each > 0) {
        bench_each(&p, sample);
        return;
    }
    bench_sample(&p, 1); /* attaches, makes pages: not what is measured, and no measure of how long it takes */
    if (samples == 0) {
        double share = bench.ms * 1e6 / BENCH_SAMPLES, took;
        while (took = bench_sample(&p, batch), bench_agree(took < share / 4))
            batch *= 4;
        took = took > 0 ? took : 1;
        batch = bench_agree(took > share ? batch : (long)((double)batch * share / took));
        samples = bench_agree(took > share ? (long)(bench.ms * 1e6 / took) : BENCH_SAMPLES);
        samples = samples < 5 ? 5 : samples;
    }
    double deadline = bench_now() + 25 * bench.ms * 1e6;
    for (long i = 0; i < samples; i++) {
        double took = bench_sample(&p, batch), amount = (double)batch * p.weight;
        sample[i] = p.unit == BENCH_NS ? took / amount : amount * 1e3 / took;
        if (p.exactly == 0 && i >= 4 && bench_agree(bench_now() > deadline))
            samples = i + 1;
    }
    if (bench.pe == 0)
        bench_report(p.name, p.size, units[p.unit], sample, samples);
}

/* Whether a point is among those asked for. */
static inline int bench_wanted(const char *name)
{
    size_t length = strlen(name);
    for (const char *word = bench.only; word != NULL; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, name, length) == 0 && (word[length] == ',' || word[length] == '\0'))
            return 1;
    }
    return bench.only == NULL;
}

/* The next size asked for after `size` (0 before the first), between the program's own limits; 0 after the last. */
static inline size_t bench_size_after(size_t size, size_t least, size_t most)
{
    for (const char *word = bench.sizes; *word != '\0';) {
        char *end;
        size_t next = strtoull(word, &end, 10);
        if (next > size && next >= least && next <= most)
            return next;
        word = *end == ',' ? end + 1 : "";
    }
    return 0;
}

/* How many transfers of this size are a window: as many as make 64 KiB, at least one, at most 64; or window=, if less. */
static inline long bench_window(size_t size)
{
    long transfers = size >= 65536 ? 1 : size <= 1024 ? 64 : (long)(65536 / size);
    return bench.window > 0 && bench.window < transfers ? bench.window : transfers;
}

/* A pass over as many bytes as the caches hold. */
static inline void bench_pass_caches(void)
{
    static volatile unsigned char *pass;
    if (pass == NULL)
        pass = (volatile unsigned char *)calloc(1, bench.cache);
    bench_check(pass != NULL, "no memory for a pass over %zu bytes", bench.cache);
    for (size_t i = 0; i < bench.cache; i += 64)
        pass[i]++;
}

/* A pattern that differs with the place and the seed: byte i of it; a buffer of it, and its check. */
static inline unsigned char bench_pattern(size_t i, size_t seed) { return (unsigned char)(seed + i * 7 + (i >> 8)); }

static inline void bench_fill(unsigned char *buffer, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = bench_pattern(i, seed);
}

static inline void bench_verify(const unsigned char *buffer, size_t size, unsigned seed, const char *what)
{
    for (size_t i = 0; i < size; i++)
        bench_check(buffer[i] == bench_pattern(i, seed), "%s: byte %zu of %zu is %u", what, i, size, buffer[i]);
}

#endif
