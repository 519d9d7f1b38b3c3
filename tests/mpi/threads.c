/* Threads of each rank use, make and free windows and types at once. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, TIMES = 300, WINDOWS = 3 };
static int me, n, wrong;
static MPI_Comm comms[THREADS];
static MPI_Win all;

static void *work(void *argument)
{
    long thread = (long)argument, one = 1, old;
    for (int w = 0; w < WINDOWS; w++) {
        long *base;
        MPI_Win win;
        MPI_Win_allocate(4096, 8, MPI_INFO_NULL, comms[thread], &base, &win);
        for (int i = 0; i < 512; i++)
            base[i] = 0;
        MPI_Barrier(comms[thread]);
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < TIMES; i++) {
            MPI_Datatype vector;
            MPI_Type_vector(2, 1, 1 + i % 7, MPI_LONG, &vector);
            MPI_Type_commit(&vector);
            long two[2] = {i, ~(long)i}, back[2] = {0, 0};
            MPI_Put(two, 2, MPI_LONG, (me + 1) % n, 16 * thread, 1, vector, win);
            MPI_Win_flush((me + 1) % n, win);
            MPI_Get(back, 1, MPI_LONG, (me + 1) % n, 16 * thread + 1 + i % 7, 1, MPI_LONG, win);
            MPI_Win_flush((me + 1) % n, win);
            MPI_Type_free(&vector);
            if (back[0] != ~(long)i)
                __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
            MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, all);
            MPI_Win_flush(0, all);
        }
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, sum;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    long *base;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &all);
    base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, all);
    pthread_t threads[THREADS];
    int used = given == MPI_THREAD_MULTIPLE ? THREADS : 1;
    for (long t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 0; t < used; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (long t = 0; t < used; t++)
        pthread_join(threads[t], NULL);
    MPI_Win_unlock_all(all);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0 && base[0] != (long)used * TIMES * WINDOWS * n)
        wrong++;
    for (long t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    MPI_Win_free(&all);
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf(sum == 0 ? "right\n" : "%d mistakes\n", sum);
    MPI_Finalize();
    return sum != 0;
}
