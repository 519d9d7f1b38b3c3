/* One-sided MPI between two ranks beside raw shared memory: nanoseconds for one operation and what completes it.
 *
 * Prints a line for each: its name, raw, MPI. bench/onesided runs it alone and under onenode-mpi.
 * Of three ranks on two nodes, it prints from rank 0: to rank 2, on its node, and to rank 1, on the other. */
#include "programs/bench.h"

enum { BATCHES = 40, BYTES = 1 << 16, DOUBLES = 100 };
static const int repeats = 500;
static char *raw, local[BYTES];
static MPI_Win win, created;

/* The least time for one operation of all batches. */
#define TIME(times, ...) \
    ({ \
        double least = 1e18; \
        for (int batch = 0; batch < BATCHES; batch++) { \
            double start = bench_now(); \
            for (int i = 0; i < (times); i++) { \
                __VA_ARGS__; \
                __asm__ volatile("" ::: "memory"); \
            } \
            double took = (bench_now() - start) / (times); \
            least = took < least ? took : least; \
        } \
        least; \
    })
#define FENCE __atomic_thread_fence(__ATOMIC_SEQ_CST)
/* A line: of calls of both ranks, or of rank 0's. */
#define BOTH(name, times, as_raw, as_mpi) \
    do { \
        double r = TIME(times, as_raw), m = TIME(times, as_mpi); \
        if (bench.pe == 0) \
            printf("%s|%.1f|%.1f\n", name, r, m), fflush(stdout); \
    } while (0)
#define LINE(name, times, as_raw, as_mpi) \
    if (bench.pe == 0) \
        BOTH(name, times, as_raw, as_mpi)

/* A barrier of two ranks, by a counter of each in rank 1's part. */
static void meet(void)
{
    uint64_t *counters = (uint64_t *)(raw + BYTES / 2);
    uint64_t met = counters[8 * bench.pe] + 1;
    __atomic_store_n(&counters[8 * bench.pe], met, __ATOMIC_RELEASE);
    while (__atomic_load_n(&counters[8 * (1 - bench.pe)], __ATOMIC_ACQUIRE) < met)
        ;
}

static void add(double *at, double value)
{
    uint64_t old = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED), new;
    do {
        double sum;
        memcpy(&sum, &old, sizeof sum);
        sum += value;
        memcpy(&new, &sum, sizeof new);
    } while (!__atomic_compare_exchange_n((uint64_t *)at, &old, new, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

#define PAIR(name, ...) \
    do { \
        double took[3] = {0}; \
        for (int to = 1; to < 3 && bench.pe == 0; to++) \
            took[to] = TIME(repeats, __VA_ARGS__; MPI_Win_flush(to, win)); \
        if (bench.pe == 0) \
            printf("%s|%.1f|%.1f\n", name, took[2], took[1]), fflush(stdout); \
    } while (0)

static void over_nodes(void)
{
    int64_t one = 1, old;
    char *base;
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    PAIR("put 8 bytes, flush", MPI_Put(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
    PAIR("get 8 bytes, flush", MPI_Get(&old, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
    PAIR("put 4 KiB, flush", MPI_Put(local, 4096, MPI_BYTE, to, 0, 4096, MPI_BYTE, win));
    PAIR("get 4 KiB, flush", MPI_Get(local, 4096, MPI_BYTE, to, 0, 4096, MPI_BYTE, win));
    PAIR("fetch_and_op, flush", MPI_Fetch_and_op(&one, &old, MPI_INT64_T, to, 0, MPI_SUM, win));
    MPI_Win_unlock_all(win);
    bench_barrier();
    MPI_Win_free(&win);
    bench_leave_job();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    bench_check(bench.npes == 2 || bench.npes == 3, "expected 2 or 3 ranks, found %d", bench.npes);
    if (bench.npes == 3) {
        over_nodes();
        return 0;
    }
    int unit;
    MPI_Win shared;
    MPI_Aint bytes;
    char *base, *own, *memory = bench_alloc(BYTES);
    MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &shared);
    MPI_Win_shared_query(shared, 1, &bytes, &unit, &raw);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    memset(own, 0, BYTES), memset(base, 0, BYTES);
    bench_barrier();
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, created);
    int64_t one = 1, old, zero = 0;
    double d = 1, many[DOUBLES];
    for (int i = 0; i < DOUBLES; i++)
        many[i] = 1;
    MPI_Datatype vector;
    MPI_Type_vector(16, 1, 2, MPI_LONG, &vector);
    MPI_Type_commit(&vector);
    LINE("put 8 bytes, flush", repeats, (*(volatile int64_t *)raw = one, FENCE), (MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_flush(1, win)));
    LINE("get 8 bytes, flush", repeats, old = *(volatile int64_t *)raw, (MPI_Get(&old, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_flush(1, win)));
    LINE("put 4 KiB, flush", repeats, (memcpy(raw, local, 4096), FENCE), (MPI_Put(local, 4096, MPI_BYTE, 1, 0, 4096, MPI_BYTE, win), MPI_Win_flush(1, win)));
    LINE("get 4 KiB, flush", repeats, memcpy(local, raw, 4096), (MPI_Get(local, 4096, MPI_BYTE, 1, 0, 4096, MPI_BYTE, win), MPI_Win_flush(1, win)));
    LINE("put of 16 strided values, flush", repeats, (({ for (int k = 0; k < 16; k++) ((volatile int64_t *)raw)[2 * k] = ((int64_t *)local)[k]; }), FENCE),
         (MPI_Put(local, 16, MPI_LONG, 1, 0, 1, vector, win), MPI_Win_flush(1, win)));
    memset(local, 0, sizeof local);
    LINE("fetch_and_op, flush", repeats, old = __atomic_fetch_add((int64_t *)raw, one, __ATOMIC_SEQ_CST),
         (MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, win), MPI_Win_flush(1, win)));
    LINE("accumulate an integer, flush", repeats, __atomic_fetch_add((int64_t *)raw, one, __ATOMIC_SEQ_CST),
         (MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win), MPI_Win_flush(1, win)));
    LINE("compare_and_swap, flush", repeats, (old = 0, __atomic_compare_exchange_n((int64_t *)(raw + 64), &old, zero, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)),
         (MPI_Compare_and_swap(&zero, &zero, &old, MPI_INT64_T, 1, 64, win), MPI_Win_flush(1, win)));
    LINE("accumulate a double, flush", repeats, add((double *)(raw + 128), d),
         (MPI_Accumulate(&d, 1, MPI_DOUBLE, 1, 128, 1, MPI_DOUBLE, MPI_SUM, win), MPI_Win_flush(1, win)));
    LINE("accumulate 100 doubles, flush", repeats, ({ for (int k = 0; k < DOUBLES; k++) add((double *)(raw + 1024) + k, many[k]); }),
         (MPI_Accumulate(many, DOUBLES, MPI_DOUBLE, 1, 1024, DOUBLES, MPI_DOUBLE, MPI_SUM, win), MPI_Win_flush(1, win)));
    MPI_Request request;
    LINE("Rput 8 bytes, wait", repeats, *(volatile int64_t *)raw = one, (MPI_Rput(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, &request), MPI_Wait(&request, MPI_STATUS_IGNORE)));
    MPI_Win_unlock_all(win);
    LINE("exclusive lock, put 8 bytes, unlock", repeats / 10 + 1, (*(volatile int64_t *)raw = one, FENCE),
         (MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_unlock(1, win)));
    LINE("shared lock, get 8 bytes, unlock", repeats / 10 + 1, old = *(volatile int64_t *)raw,
         (MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_Get(&old, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_unlock(1, win)));
    LINE("lock_all, put 8 bytes, unlock_all", repeats / 10 + 1, (*(volatile int64_t *)raw = one, FENCE),
         (MPI_Win_lock_all(0, win), MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_unlock_all(win)));
    MPI_Win_unlock_all(created);
    bench_barrier();
    /* Both ranks, in turn or together. */
    MPI_Group all, other;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){1 - bench.pe}, &other);
    BOTH("fence, put 8 bytes, fence", repeats / 10 + 1, (meet(), *(volatile int64_t *)raw = one, meet()),
         (MPI_Win_fence(0, win), bench.pe == 0 ? MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win) : 0, MPI_Win_fence(MPI_MODE_NOSUCCEED, win)));
    BOTH("post, start, put 8 bytes, complete, wait", repeats / 10 + 1, (meet(), *(volatile int64_t *)raw = one, meet()),
         bench.pe == 0 ? (MPI_Win_start(other, 0, win), MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), MPI_Win_complete(win))
                       : (MPI_Win_post(other, 0, win), MPI_Win_wait(win)));
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_lock_all(0, created);
    LINE("another window: put 8 bytes, flush", repeats, (*(volatile int64_t *)raw = one, FENCE),
         (MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, created), MPI_Win_flush(1, created)));
    MPI_Win_unlock_all(created);
    bench_barrier();
    MPI_Type_free(&vector);
    MPI_Win_free(&created);
    MPI_Win_free(&win);
    MPI_Win_free(&shared);
    free(memory);
    bench_leave_job();
    return 0;
}
