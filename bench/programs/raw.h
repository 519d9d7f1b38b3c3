/* Plain shared memory in place of a library: processes with a stretch each of one anonymous mapping, and the routines of
 * OpenSHMEM that are measured, each a function that only copies, stores, loads or waits. What a program measures over it is
 * what the machine can do. Argument pes= says how many. */
#ifndef RAW_H
#define RAW_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Shared by all: the engine's own words. */
static struct raw_shared {
    _Alignas(128) atomic_long arrived;
    _Alignas(128) atomic_long phase;
    _Alignas(128) atomic_long failed;
    double figures[BENCH_MAX_PES];
} *raw_shared;
static unsigned char *raw_next, *raw_end; /* of this process's stretch */
static int raw_crowded; /* more processes than CPUs: waiting gives the CPU away */

/* Waits until the word is at least `value`: at first without any pause, since this is to be the limit. */
static inline void raw_await(atomic_long *word, long value)
{
    for (int spins = 0; atomic_load_explicit(word, memory_order_acquire) < value; spins++) {
        if (!raw_crowded && spins <= 1000)
            continue;
        if (atomic_load_explicit(&raw_shared->failed, memory_order_relaxed))
            _exit(1);
        if (raw_crowded)
            sched_yield();
#if defined(__x86_64__) || defined(__i386__)
        else
            __builtin_ia32_pause();
#endif
    }
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

static inline void bench_end_job(void)
{
    if (raw_shared != NULL)
        atomic_store(&raw_shared->failed, 1);
    _exit(1);
}

/* The bytes of a stretch: taken as they are touched. */
#define RAW_STRETCH ((size_t)1 << 28)

static inline void *bench_pages(size_t bytes)
{
    raw_next += bytes;
    return raw_next <= raw_end ? raw_next - bytes : NULL;
}

/* Forks the processes; each goes on with its own number. */
static inline void bench_begin_job(int argc, char **argv)
{
    int npes = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "pes=", 4) == 0)
            npes = atoi(argv[i] + 4);
    bench_check(npes >= 1 && npes <= BENCH_MAX_PES, "pes= is out of range");
    const size_t words = (sizeof *raw_shared + 4095) & ~(size_t)4095, room = words + (size_t)npes * RAW_STRETCH;
    unsigned char *memory =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bench_check(memory != MAP_FAILED, "raw: no shared memory");
    raw_shared = (struct raw_shared *)memory;
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
    raw_next = memory + words + (size_t)bench.pe * RAW_STRETCH;
    raw_end = raw_next + RAW_STRETCH;
}

static inline void bench_leave_job(void)
{
    if (bench.pe != 0)
        exit(0);
    for (int pe = 1; pe < bench.npes; pe++) {
        int status = 0;
        bench_check(wait(&status) > 0 && status == 0, "raw: a process failed");
    }
}

/* Weak and not inlined: called, as a library's routines are. */
#define RAW __attribute__((weak, noinline))
#define BENCH_SHMEM 105
#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_GE 1
#define SHMEM_SIGNAL_SET 0

/* Where another process has it. */
static inline void *raw_at(const void *mine, int pe)
{
    return (unsigned char *)(uintptr_t)mine + ((ptrdiff_t)pe - bench.pe) * (ptrdiff_t)RAW_STRETCH;
}

RAW void shmem_putmem(void *d, const void *s, size_t n, int pe) { memcpy(raw_at(d, pe), s, n); }
RAW void shmem_getmem(void *d, const void *s, size_t n, int pe) { memcpy(d, raw_at(s, pe), n); }
RAW void shmem_putmem_nbi(void *d, const void *s, size_t n, int pe) { memcpy(raw_at(d, pe), s, n); }
RAW void shmem_getmem_nbi(void *d, const void *s, size_t n, int pe) { memcpy(d, raw_at(s, pe), n); }
RAW void shmem_fence(void) { atomic_thread_fence(memory_order_release); }
RAW void shmem_quiet(void) { atomic_thread_fence(memory_order_seq_cst); }
RAW void shmem_barrier_all(void) { bench_barrier(); }

RAW void shmem_long_p(long *d, long value, int pe) { *(volatile long *)raw_at(d, pe) = value; }
RAW long shmem_long_g(const long *s, int pe) { return *(volatile long *)raw_at(s, pe); }
RAW void shmem_long_wait_until(long *word, int cmp, long value)
{
    (void)cmp; /* words only grow here */
    raw_await((atomic_long *)word, value);
}
RAW void shmem_signal_wait_until(uint64_t *word, int cmp, uint64_t value) { shmem_long_wait_until((long *)word, cmp, (long)value); }
RAW void shmem_putmem_signal(void *d, const void *s, size_t n, uint64_t *word, uint64_t value, int how, int pe)
{
    (void)how;
    memcpy(raw_at(d, pe), s, n);
    __atomic_store_n((uint64_t *)raw_at(word, pe), value, __ATOMIC_RELEASE);
}

#define RAW_WORD(word) ((long *)raw_at(word, pe))
RAW long shmem_long_atomic_fetch(const long *word, int pe) { return __atomic_load_n(RAW_WORD(word), __ATOMIC_SEQ_CST); }
RAW void shmem_long_atomic_set(long *word, long value, int pe) { __atomic_store_n(RAW_WORD(word), value, __ATOMIC_SEQ_CST); }
RAW long shmem_long_atomic_swap(long *word, long value, int pe) { return __atomic_exchange_n(RAW_WORD(word), value, __ATOMIC_SEQ_CST); }
RAW long shmem_long_atomic_fetch_add(long *word, long value, int pe) { return __atomic_fetch_add(RAW_WORD(word), value, __ATOMIC_SEQ_CST); }
RAW void shmem_long_atomic_add(long *word, long value, int pe) { (void)__atomic_fetch_add(RAW_WORD(word), value, __ATOMIC_SEQ_CST); }
RAW long shmem_long_atomic_compare_swap(long *word, long old, long value, int pe)
{
    __atomic_compare_exchange_n(RAW_WORD(word), &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}

#endif
