/* What must wait for what, and what must not: an operation is done at its call, so the calls that begin an epoch have to
 * wait for the target; a rank that waits by get and flush serves others meanwhile; atomics lose nothing. */
#include <mpi.h>
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, n, last, wrong; /* rank 0's partner is the last */
static volatile long *base;
static MPI_Win win, second;
static int here; /* ranks on this node */

/* How often to do what needs many times: less often where each crosses a network, by MPI. */
static int times(int most)
{
    return here < n ? most / 10 : most;
}

static void check(int good, const char *what)
{
    if (!good)
        wrong++, printf("rank %d: wrong: %s\n", me, what), fflush(stdout);
}

static void rest(void)
{
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
}

static void put(long value, int rank, int at)
{
    static long kept;
    kept = value;
    MPI_Put(&kept, 1, MPI_LONG, rank, at, 1, MPI_LONG, win);
}

/* The last rank begins its exposure late. */
static void late_post(void)
{
    MPI_Group world, group;
    int other = last - me;
    if (me != 0 && me != last)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &group);
    if (me == 0) {
        MPI_Win_start(group, 0, win);
        put(1, last, 0);
        MPI_Win_complete(win);
    } else {
        rest();
        check(base[0] == 0, "a put before post");
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        check(base[0] == 1, "a put after wait");
    }
    MPI_Group_free(&group), MPI_Group_free(&world);
}

static void late_fence(void)
{
    if (me == last) {
        rest();
        check(base[1] == 0, "a put before fence");
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (me == 0)
        put(2, last, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check(me != last || base[1] == 2, "a put after fence");
}

static void held(int kind)
{
    if (me == last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
        base[2] = 0;
        MPI_Win_sync(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last) {
        for (int i = 0, flag; i < 20; i++) { /* MPI's locks may need calls of their target */
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            nanosleep(&(struct timespec){0, 2 * 1000 * 1000}, NULL);
        }
        check(base[2] == 0, "a put in another's exclusive lock");
        MPI_Win_unlock(last, win);
    } else if (me == 0) {
        MPI_Win_lock(kind, last, 0, win);
        put(3, last, 2);
        MPI_Win_unlock(last, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(me != last || base[2] == 3, "a put after another's exclusive lock");
}

/* Rank 0 waits by one-sided calls for what the last rank writes after it has had rank 0's help. */
static void helped(void)
{
    enum { LONG = 1 << 17 };
    double *message = calloc(LONG, sizeof *message);
    MPI_Request request = MPI_REQUEST_NULL;
    long value = 0, one = 1;
    if (me == 0)
        MPI_Irecv(message, LONG, MPI_DOUBLE, last, 5, MPI_COMM_WORLD, &request);
    MPI_Win_lock_all(0, win);
    if (me == 0)
        while (value == 0) {
            MPI_Get(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
        }
    else if (me == last) {
        MPI_Send(message, LONG, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, second);
        MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, second);
        MPI_Win_unlock(0, second);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_REPLACE, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(message);
}

/* Increments of one value by exclusive locks, get and put. */
static void counted(void)
{
    const int rounds = times(50);
    for (int i = 0; i < rounds; i++) {
        long value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_LONG, 0, 4, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        put(value + 1, 0, 4);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    check(me != 0 || base[4] == (long)rounds * n, "a count by exclusive locks");
    MPI_Win_unlock(me, win);
}

/* Two values that are only changed together, by exclusive locks, are seen equal in shared ones. */
static void together(void)
{
    const int rounds = times(100);
    for (int i = 0; i < rounds; i++) {
        long two[2] = {0, 0};
        bool alone = (i + me) % 3 == 0, all = (i + me) % 3 == 1;
        if (all)
            MPI_Win_lock_all(0, win);
        else
            MPI_Win_lock(alone ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(&two[0], 1, MPI_LONG, 0, 6, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        MPI_Get(&two[1], 1, MPI_LONG, 0, 7, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        check(two[0] == two[1], "two values changed together");
        two[0]++, two[1]++;
        if (alone)
            MPI_Put(two, 2, MPI_LONG, 0, 6, 2, MPI_LONG, win);
        all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win);
    }
}

/* All ranks add to one value of each type, in every form. */
static void summed(void)
{
    const int rounds = times(2000);
    MPI_Win_lock_all(0, win);
#define SUM(T, MPI, at) \
    do { \
        T one = 1, old; \
        MPI_Datatype same, apart; \
        MPI_Type_contiguous(1, MPI, &same); \
        MPI_Type_commit(&same); \
        MPI_Type_vector(2, 1, 1, MPI, &apart); \
        MPI_Type_commit(&apart); \
        T two[2] = {1, 0}; \
        for (int i = 0; i < rounds; i++) { \
            switch ((i + me) % 5) { \
            case 0: MPI_Accumulate(&one, 1, MPI, 0, at, 1, MPI, MPI_SUM, win); break; \
            case 1: MPI_Fetch_and_op(&one, &old, MPI, 0, at, MPI_SUM, win); break; \
            case 2: MPI_Get_accumulate(&one, 1, MPI, &old, 1, same, 0, at, 1, MPI, MPI_SUM, win); break; \
            case 3: MPI_Accumulate(&one, 1, same, 0, at, 1, same, MPI_SUM, win); break; \
            case 4: MPI_Accumulate(two, 2, MPI, 0, at, 1, apart, MPI_SUM, win); break; \
            } \
            if (i % 16 == 0) \
                MPI_Win_flush(0, win); \
        } \
        MPI_Win_flush(0, win); \
        MPI_Barrier(MPI_COMM_WORLD); \
        T all; \
        MPI_Get(&all, 1, MPI, 0, at, 1, MPI, win); \
        MPI_Win_flush(0, win); \
        check(all == (T)((long)rounds * n), "a sum of " #MPI); \
        MPI_Type_free(&same); \
        MPI_Type_free(&apart); \
    } while (0)
    SUM(char, MPI_SIGNED_CHAR, 16);
    SUM(short, MPI_SHORT, 18);
    SUM(int, MPI_INT, 20);
    SUM(long, MPI_LONG, 22);
    SUM(float, MPI_FLOAT, 26);
    SUM(double, MPI_DOUBLE, 28);
    SUM(long double, MPI_LONG_DOUBLE, 32);
    SUM(double complex, MPI_C_DOUBLE_COMPLEX, 36);
    MPI_Win_unlock_all(win);
}

/* A counter by compare and swap. */
static void swapped(void)
{
    const int rounds = times(500);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++)
        for (long expected = 0, next = 1, found; ; expected = found, next = found + 1) {
            MPI_Compare_and_swap(&next, &expected, &found, MPI_LONG, 0, 50, win);
            MPI_Win_flush(0, win);
            if (found == expected)
                break;
        }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(me != 0 || base[50] == (long)rounds * n, "a count by compare and swap");
}

/* A put to a window that is just made. */
static void at_once(void)
{
    for (int i = 0; i < times(20); i++) {
        long *start, value = me + 1;
        MPI_Win new;
        MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &start, &new);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (me + last) % n, 0, new);
        MPI_Put(&value, 1, MPI_LONG, (me + last) % n, 0, 1, MPI_LONG, new);
        MPI_Win_unlock((me + last) % n, new);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, new);
        check(*start == (me + 1) % n + 1, "a put to a new window");
        MPI_Win_unlock(me, new);
        MPI_Win_free(&new);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    last = n - 1;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    at_once();
    for (int shared = 0; shared < (here < n ? 1 : 2); shared++) {
        long *start, *other;
        if (shared)
            MPI_Win_allocate_shared(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &start, &win);
        else
            MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &start, &win);
        MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other, &second);
        memset(start, 0, 4096);
        base = start;
        void (*const parts[])(void) = {late_post, late_fence, helped, counted, together, summed, swapped};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (n > 1 || i >= 3)
                parts[i]();
        }
        for (int i = 0; i < 2 && n > 1; i++)
            MPI_Barrier(MPI_COMM_WORLD), held(i ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
        MPI_Win_free(&second);
        MPI_Win_free(&win);
    }
    int sum;
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf(sum == 0 ? "right\n" : "%d mistakes\n", sum);
    MPI_Finalize();
    return sum != 0;
}
