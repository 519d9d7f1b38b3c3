/* The job of the raw programs: processes that share one anonymous mapping and
 * nothing else. What these measure is what the machine can do; the figures stand beside
 * those of the OpenSHMEM programs of the same name. Argument pes= says how many. */
#ifndef RAW_H
#define RAW_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Shared by all: the engine's own words, then what raw_alloc hands out. */
static struct raw_shared {
    _Alignas(128) atomic_long arrived;
    _Alignas(128) atomic_long phase;
    _Alignas(128) atomic_long failed;
    long decision;
    double figures[BENCH_MAX_PES];
} *raw_shared;
static unsigned char *raw_next, *raw_end;
static int raw_crowded; /* more processes than CPUs: waiting gives the CPU away */

/* One step of waiting. */
static inline void raw_pause(void)
{
    if (atomic_load_explicit(&raw_shared->failed, memory_order_relaxed))
        _exit(1);
    if (raw_crowded)
        sched_yield();
    else
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("" ::: "memory");
#endif
}

/* Waits until the word is at least `value`: at first without any pause, since this is to be the limit. */
static inline void raw_await(atomic_long *word, long value)
{
    for (int spins = 0; atomic_load_explicit(word, memory_order_acquire) < value; spins++)
        if (raw_crowded || spins > 1000)
            raw_pause();
}

static inline void bench_barrier(void)
{
    long phase = atomic_load(&raw_shared->phase);
    if (atomic_fetch_add(&raw_shared->arrived, 1) == bench.npes - 1) {
        atomic_store(&raw_shared->arrived, 0);
        atomic_store(&raw_shared->phase, phase + 1);
    } else {
        raw_await(&raw_shared->phase, phase + 1);
    }
}

static inline const double *bench_gather(double mine)
{
    raw_shared->figures[bench.pe] = mine;
    bench_barrier();
    return raw_shared->figures;
}

static inline long bench_agree(long decision)
{
    if (bench.pe == 0)
        raw_shared->decision = decision;
    bench_barrier();
    decision = raw_shared->decision;
    bench_barrier();
    return decision;
}

static inline void bench_end_job(void)
{
    if (raw_shared != NULL)
        atomic_store(&raw_shared->failed, 1);
    _exit(1);
}

static inline void bench_check(int holds, const char *format, ...);
static inline void bench_arguments(int argc, char **argv);

/* Shared memory, zeroed, page-aligned; called by all processes alike, each then has the same. */
static inline void *raw_alloc(size_t bytes)
{
    unsigned char *memory = raw_next;
    raw_next += (bytes + 4095) & ~(size_t)4095;
    bench_check(raw_next <= raw_end, "raw: out of shared memory");
    return memory;
}

/* Forks the processes; each goes on with its own number. */
static inline void bench_start(int argc, char **argv)
{
    const size_t room = (size_t)4 << 30; /* address space: taken as it is touched */
    int npes = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "pes=", 4) == 0)
            npes = atoi(argv[i] + 4);
    bench_check(npes >= 1 && npes <= BENCH_MAX_PES, "pes= is out of range");
    unsigned char *memory =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bench_check(memory != MAP_FAILED, "raw: no shared memory");
    raw_shared = (struct raw_shared *)memory;
    raw_next = memory + ((sizeof *raw_shared + 4095) & ~(size_t)4095);
    raw_end = memory + room;
    raw_crowded = npes > sysconf(_SC_NPROCESSORS_ONLN);
    bench.npes = npes;
    pid_t parent = getpid();
    for (int pe = 1; pe < npes; pe++) {
        pid_t child = fork();
        bench_check(child >= 0, "raw: cannot fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(1);
            bench.pe = pe;
            break;
        }
    }
    bench_arguments(argc, argv);
    bench_barrier();
}

/* Longs between two processes' flags: more than a page, so that no prefetcher takes them together, and not a whole
 * number of pages: a load that waits for the other flag would be held up by the store to one's own, of which the
 * processor compares the place in the page first. */
#define RAW_APART (512 + 64)

static inline void bench_finish(void)
{
    bench_barrier();
    if (bench.pe != 0) {
        fflush(stdout);
        _exit(0);
    }
    for (int pe = 1; pe < bench.npes; pe++) {
        int status = 0;
        bench_check(wait(&status) > 0 && status == 0, "raw: a process failed");
    }
    printf("DONE\n");
}

#endif
