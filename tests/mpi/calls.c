/* What the program is told: attributes, info, errors. Prints it; the same with and without the library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n;

static void show(const char *what, int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    static const struct { int class; const char *name; } names[] = {
        {MPI_SUCCESS, "ok"}, {MPI_ERR_RANK, "RANK"}, {MPI_ERR_COUNT, "COUNT"}, {MPI_ERR_TYPE, "TYPE"}, {MPI_ERR_DISP, "DISP"}, {MPI_ERR_WIN, "WIN"},
        {MPI_ERR_OP, "OP"}, {MPI_ERR_RMA_RANGE, "RMA_RANGE"}, {MPI_ERR_RMA_SYNC, "RMA_SYNC"}, {MPI_ERR_ARG, "ARG"}, {MPI_ERR_LOCKTYPE, "LOCKTYPE"},
        {MPI_ERR_ASSERT, "ASSERT"}, {MPI_ERR_SIZE, "SIZE"}};
    const char *name = "other";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == class)
            name = names[i].name;
    if (me == 0)
        printf("%s: %s\n", what, name), fflush(stdout);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void describe(const char *what, MPI_Win win, const void *start)
{
    MPI_Info info;
    int keys, flag, *flavor, *model, *unit;
    MPI_Aint *size;
    void *base;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    MPI_Win_get_info(win, &info);
    MPI_Info_get_nkeys(info, &keys);
    static char lines[64][256];
    for (int i = 0; i < keys && i < 64; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[128];
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, sizeof value - 1, value, &flag);
        snprintf(lines[i], sizeof lines[i], "%.120s=%s", key, value);
    }
    qsort(lines, (size_t)keys, sizeof *lines, by_name);
    MPI_Info_free(&info);
    MPI_Group group, world;
    int same, size_of_group;
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    MPI_Group_size(group, &size_of_group);
    MPI_Group_free(&group), MPI_Group_free(&world);
    if (me == 0) {
        printf("%s: flavor %d, model %d, size %ld, unit %d, base as returned %d, group %s\n", what, *flavor, *model, (long)*size, *unit, base == start,
               same == MPI_IDENT ? "of the world" : "another");
        for (int i = 0; i < keys; i++)
            printf("    %s\n", lines[i]);
    }
}

static void check(int good, const char *what)
{
    if (!good)
        printf("rank %d: wrong: %s\n", me, what), fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Win win;
    long *base, v[64] = {1}, r = 0;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    describe("allocate", win, base);
    MPI_Win_free(&win);
    MPI_Win_allocate(4096, 8, info, MPI_COMM_WORLD, &base, &win);
    describe("allocate with info", win, base);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Win_allocate_shared(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    describe("allocate_shared", win, base);
    MPI_Win_free(&win);

    /* Parts of different sizes, one of size 0. */
    MPI_Win_allocate(me == 0 ? 0 : 64 * me, me == 1 ? 8 : 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    check(me == 0 || base != NULL, "a base");
    MPI_Win_fence(0, win);
    if (n > 1) {
        v[0] = 5 + me;
        MPI_Accumulate(v, 1, MPI_LONG, 1, me % 8, 1, MPI_LONG, MPI_REPLACE, win);
    }
    MPI_Put(v, 0, MPI_LONG, 0, 0, 0, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; me == 1 && i < n && i < 8; i++)
        check(base[i] == 5 + i || n > 8, "a part of another size");
    MPI_Win_free(&win);

    /* Of a part of the processes, in the other order. */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    int rank, ranks;
    MPI_Comm_rank(half, &rank), MPI_Comm_size(half, &ranks);
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, half, &base, &win);
    memset(base, 0, 4096);
    MPI_Barrier(half);
    MPI_Win_lock_all(0, win);
    v[0] = 100 * (me % 2) + rank;
    MPI_Put(v, 1, MPI_LONG, (rank + 1) % ranks, rank, 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(half);
    int before = (rank + ranks - 1) % ranks;
    check(base[before] == 100 * (me % 2) + before, "a window of half of the processes");
    MPI_Win_free(&win);
    MPI_Comm_free(&half);

    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, 4096);
    MPI_Errhandler handler;
    MPI_Win_get_errhandler(win, &handler);
    if (me == 0)
        printf("handler fatal %d\n", handler == MPI_ERRORS_ARE_FATAL);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* for calls without a window */
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    int other = 1 % n;
    if (me == 0) {
        show("put without an epoch", MPI_Put(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, win));
        show("flush without an epoch", MPI_Win_flush(other, win));
        show("unlock without lock", MPI_Win_unlock(other, win));
        show("unlock_all without lock", MPI_Win_unlock_all(win));
        show("lock of rank n", MPI_Win_lock(MPI_LOCK_SHARED, n, 0, win));
        show("lock of no kind", MPI_Win_lock(-77, other, 0, win));
        show("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win));
        show("lock of a locked rank", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win));
        show("put to displacement -1 in a lock", MPI_Put(v, 1, MPI_LONG, other, -1, 1, MPI_LONG, win));
        show("put in a lock", MPI_Put(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, win));
        show("unlock", MPI_Win_unlock(other, win));
        show("put after it", MPI_Put(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, win));
        show("unlock without lock again", MPI_Win_unlock(other, win));
        show("lock without a check", MPI_Win_lock(MPI_LOCK_SHARED, other, MPI_MODE_NOCHECK, win));
        show("its unlock", MPI_Win_unlock(other, win));
        show("start of none", MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
        show("put in it", MPI_Put(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, win));
        show("complete", MPI_Win_complete(win));
        show("complete again", MPI_Win_complete(win));
        show("post for none", MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
        show("wait", MPI_Win_wait(win));
        show("wait again", MPI_Win_wait(win));
        int bad = 1 << 20;
        show("fence with another call's assert", MPI_Win_fence(MPI_MODE_NOCHECK, win));
        show("start with a bad assert", MPI_Win_start(MPI_GROUP_EMPTY, bad, win));
        show("post with a bad assert", MPI_Win_post(MPI_GROUP_EMPTY, bad, win));
        show("lock with a bad assert", MPI_Win_lock(MPI_LOCK_SHARED, other, bad, win));
    }
    MPI_Win_fence(0, win);
    show("flush_all after a fence", MPI_Win_flush_all(win));
    show("flush_local_all after a fence", MPI_Win_flush_local_all(win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        v[0] = 1;
        show("put to rank n", MPI_Put(v, 1, MPI_LONG, n, 0, 1, MPI_LONG, win));
        show("put to rank -5", MPI_Put(v, 1, MPI_LONG, -5, 0, 1, MPI_LONG, win));
        show("put to no rank", MPI_Put(v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
        show("get from no rank", MPI_Get(v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
        show("fetch_and_op on no rank", MPI_Fetch_and_op(v, &r, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win));
        show("put of -1 values", MPI_Put(v, -1, MPI_LONG, other, 0, 1, MPI_LONG, win));
        show("put to -1 values", MPI_Put(v, 1, MPI_LONG, other, 0, -1, MPI_LONG, win));
        show("put of nothing", MPI_Put(NULL, 0, MPI_LONG, other, 0, 0, MPI_LONG, win));
        show("put of nothing at the end", MPI_Put(v, 0, MPI_LONG, other, 512, 0, MPI_LONG, win));
        show("put of no type", MPI_Put(v, 1, MPI_DATATYPE_NULL, other, 0, 1, MPI_LONG, win));
        show("put of a type that is not committed", MPI_Put(v, 1, uncommitted, other, 0, 1, uncommitted, win));
        show("accumulate of a type that is not committed", MPI_Accumulate(v, 1, uncommitted, other, 0, 1, uncommitted, MPI_SUM, win));
        show("put to no window", MPI_Put(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, MPI_WIN_NULL));
        show("put to displacement -1", MPI_Put(v, 1, MPI_LONG, other, -1, 1, MPI_LONG, win));
        show("get from displacement -1", MPI_Get(v, 1, MPI_LONG, other, -1, 1, MPI_LONG, win));
        show("accumulate with no operation", MPI_Accumulate(v, 1, MPI_LONG, other, 0, 1, MPI_LONG, MPI_OP_NULL, win));
        show("flush of rank n", MPI_Win_flush(n, win));
        show("flush_all", MPI_Win_flush_all(win));
        show("sync", MPI_Win_sync(win));
        MPI_Request request;
        MPI_Status status;
        show("Rput", MPI_Rput(v, 1, MPI_LONG, other, 7, 1, MPI_LONG, win, &request));
        show("its wait", MPI_Wait(&request, &status));
        check(request == MPI_REQUEST_NULL, "a request that is gone");
        MPI_Request some[3];
        MPI_Rget(v + 1, 1, MPI_LONG, other, 7, 1, MPI_LONG, win, &some[0]);
        MPI_Raccumulate(v, 1, MPI_LONG, other, 8, 1, MPI_LONG, MPI_SUM, win, &some[1]);
        MPI_Rget_accumulate(v, 1, MPI_LONG, v + 2, 1, MPI_LONG, other, 9, 1, MPI_LONG, MPI_SUM, win, &some[2]);
        MPI_Status of_some[3];
        show("wait of three", MPI_Waitall(3, some, of_some));
        /* A put through no request is complete after the flush. */
        MPI_Win_flush(other, win);
        check(v[1] == 1 || n == 0, "a fetched value");
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == other)
        check(base[7] == 1 && base[8] == 1 && base[9] == 1, "values of requests");

    /* Absolute addresses. */
    MPI_Aint far;
    int one = 1;
    long here = 77;
    MPI_Get_address(&here, &far);
    MPI_Datatype absolute, plain = MPI_LONG;
    MPI_Type_create_struct(1, &one, &far, &plain, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Win_fence(0, win);
    MPI_Put(MPI_BOTTOM, 1, absolute, (me + 1) % n, 20, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    check(base[20] == 77, "put from MPI_BOTTOM");
    MPI_Type_free(&absolute);

    /* A handle that comes again means another type. */
    for (int i = 0; i < 4; i++) {
        MPI_Datatype vector;
        MPI_Type_vector(2, 1, 2 + i, MPI_LONG, &vector);
        MPI_Type_commit(&vector);
        long two[2] = {1000 + i, 2000 + i};
        MPI_Win_fence(0, win);
        MPI_Put(two, 2, MPI_LONG, (me + 1) % n, 30, 1, vector, win);
        MPI_Win_fence(0, win);
        check(base[30] == 1000 + i && base[30 + 2 + i] == 2000 + i, "a vector");
        MPI_Type_free(&vector);
    }

    /* Pairs, whose gap is kept. */
    struct { double value; int index, gap; } pair = {3.5, me, 0}, *pairs = (void *)(base + 40);
    MPI_Win_fence(0, win);
    pairs->value = 0, pairs->index = 99, pairs->gap = 4321;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, 40, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    check(me != 0 || (pairs->value == 3.5 && pairs->index == 0 && pairs->gap == 4321), "MAXLOC");
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, me, 40, 1, MPI_DOUBLE_INT, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    check(pairs->value == 3.5 && pairs->index == me && pairs->gap == 4321, "a pair replaced");

    /* A gap within a pair is kept on both sides. */
    struct { short value, gap; int index; } within = {7, 11, me}, old = {0, 22, 0}, *others = (void *)(base + 50);
    MPI_Win_fence(0, win);
    others[0].value = 1, others[0].gap = 33, others[0].index = 9;
    others[1] = others[0];
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(&within, 1, MPI_SHORT_INT, &old, 1, MPI_SHORT_INT, me, 50, 1, MPI_SHORT_INT, MPI_REPLACE, win);
    MPI_Accumulate(&within, 1, MPI_SHORT_INT, me, 51, 1, MPI_SHORT_INT, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    check(old.value == 1 && old.gap == 22 && old.index == 9, "a fetched pair with a gap");
    for (int i = 0; i < 2; i++)
        check(others[i].value == 7 && others[i].gap == 33 && others[i].index == me, "a pair with a gap");

    MPI_Type_free(&uncommitted);
    MPI_Win_free(&win);
    check(win == MPI_WIN_NULL, "a window that is gone");
    MPI_Finalize();
    return 0;
}
