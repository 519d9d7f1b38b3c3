/* What is legal and seldom done: each of these was wrong once, and right with MPI alone. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 20000, BIG = 8 << 20 };
static int me, wrong;
static MPI_Win late;
static double *kept;

static void check(int good, const char *what)
{
    if (!good)
        wrong++, printf("rank %d: wrong: %s\n", me, what), fflush(stdout);
}

/* Rank 0 waits by locks for what rank 1 puts after a long message of rank 0. */
static void polls_by_lock(int kind)
{
    MPI_Win win;
    MPI_Request request = MPI_REQUEST_NULL;
    int *flag, one = 1, seen = 0;
    char *bytes = calloc(1, BIG);
    MPI_Win_allocate(sizeof *flag, sizeof *flag, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
    *flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Isend(bytes, BIG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
        while (!seen) {
            MPI_Win_lock(kind, 0, 0, win);
            MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_unlock(0, win);
        }
    } else {
        MPI_Recv(bytes, BIG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(kind, 0, 0, win);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    free(bytes);
}

/* A type of a given number of digits is a predefined one. MPICH refuses it in MPI_Fetch_and_op. */
static void adds_digits(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, one = 1, old, *sum;
    MPI_Datatype digits;
    MPI_Win win;
    MPI_Get_library_version(version, &length);
    if (version[0] != 'O' || MPI_Type_create_f90_integer(9, &digits) != MPI_SUCCESS)
        return;
    MPI_Win_allocate(sizeof *sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &win);
    *sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TIMES; i++)
        if (me == 1)
            MPI_Accumulate(&one, 1, digits, 0, 0, 1, digits, MPI_SUM, win);
        else
            MPI_Fetch_and_op(&one, &old, digits, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(me != 0 || *sum == 2 * TIMES, "sum of MPI_Type_create_f90_integer's");
    MPI_Win_free(&win);
}

/* A communicator goes while a request of rank 1 keeps it. */
static void frees_a_used_communicator(void)
{
    MPI_Comm comm;
    MPI_Win win;
    MPI_Request request = MPI_REQUEST_NULL;
    int *part, word = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &part, &win);
    MPI_Win_free(&win);
    if (me == 1)
        MPI_Send_init(&word, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Comm_free(&comm);
    if (me == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

/* A rank need not wait for the others to free a communicator. */
static void frees_before_the_other(void)
{
    MPI_Comm comm;
    MPI_Win win;
    int *part, word = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &part, &win);
    MPI_Win_free(&win);
    if (me == 0) {
        MPI_Comm_free(&comm);
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
}

/* A window when MPI has two communicators left. Open MPI has more than anyone can wait for. */
static void needs_few_communicators(void)
{
    enum { MOST = 2048 };
    static MPI_Comm comms[MOST];
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int count = 0, length, value = 7, *part;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Get_library_version(version, &length);
    if (version[0] == 'O')
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (count < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comms[count]) == MPI_SUCCESS)
        count++;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check(count > 2 && count < MOST, "number of communicators");
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[--count]);
    MPI_Win_allocate(sizeof *part, sizeof *part, MPI_INFO_NULL, comm, &part, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    check(*part == value, "put on one of the last communicators");
    MPI_Win_free(&win);
    while (count > 0)
        MPI_Comm_free(&comms[--count]);
    MPI_Comm_free(&comm);
}

/* Rank 0 begins and ends epochs that nobody keeps waiting, until rank 1 has put into a window that is MPI's, which needs rank 0. */
static void polls_by_epochs(int fences)
{
    static int flag;
    MPI_Win flags, alone;
    MPI_Group self;
    int *part, one = 1;
    flag = 0;
    MPI_Win_create(&flag, sizeof flag, sizeof flag, MPI_INFO_NULL, MPI_COMM_WORLD, &flags);
    MPI_Win_allocate(sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_SELF, &part, &alone);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, flags);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, flags);
        MPI_Win_unlock(0, flags);
    }
    while (me == 0 && *(volatile int *)&flag == 0) {
        if (fences) {
            MPI_Win_fence(0, alone);
            continue;
        }
        MPI_Win_post(self, 0, alone);
        MPI_Win_start(self, 0, alone);
        MPI_Win_complete(alone);
        MPI_Win_wait(alone);
    }
    MPI_Group_free(&self);
    MPI_Win_free(&alone);
    MPI_Win_free(&flags);
}

/* A type that reaches back from past the end of the window. */
static void reaches_back(void)
{
    MPI_Win win;
    MPI_Datatype back;
    int *part, value = 0, ones = 1;
    MPI_Aint distance = -64;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    part[2] = 101;
    MPI_Type_create_hindexed(1, &ones, &distance, MPI_INT, &back);
    MPI_Type_commit(&back);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 72, 1, back, win);
    MPI_Win_unlock_all(win);
    check(value == 101, "get by a type that reaches back");
    MPI_Type_free(&back);
    MPI_Win_free(&win);
}

/* Called in MPI_Finalize: the window is still whole. */
static int ends_late(MPI_Comm comm, int key, void *value, void *nothing)
{
    (void)comm, (void)key, (void)value, (void)nothing;
    double one = 1;
    MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, late);
    MPI_Win_unlock_all(late);
    MPI_Barrier(MPI_COMM_WORLD);
    check(me != 0 || *kept == 2, "accumulates in MPI_Finalize");
    MPI_Win_free(&late);
    if (!wrong && me == 0)
        puts("right");
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    polls_by_lock(MPI_LOCK_SHARED);
    polls_by_lock(MPI_LOCK_EXCLUSIVE);
    adds_digits();
    frees_a_used_communicator();
    frees_before_the_other();
    needs_few_communicators();
    polls_by_epochs(0);
    polls_by_epochs(1);
    reaches_back();
    MPI_Win_allocate(sizeof *kept, sizeof *kept, MPI_INFO_NULL, MPI_COMM_WORLD, &kept, &late);
    *kept = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, late);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends_late, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Finalize();
    return 0;
}
