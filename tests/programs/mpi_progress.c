/* mpi_progress HOW: PE 0 begins to send a long message by MPI and then waits in OpenSHMEM until PE 1 has
 * received it: HOW is the routine it waits in. With "thread", it waits in another thread, while the main one
 * makes no call; with "finalize", the main one finalizes MPI meanwhile. */
#include "check.h"
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4 << 20 };
static long flag, lock, is_ready;
static const char *how;
static char *message;

#define IS(name) (strcmp(how, name) == 0)

static void *wait_for_flag(void *unused)
{
    (void)unused;
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    return NULL;
}

static void *send_and_wait(void *unused)
{
    (void)unused;
    MPI_Request request;
    MPI_Isend(message, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    if (IS("barrier"))
        shmem_barrier_all();
    else if (IS("lock"))
        shmem_set_lock(&lock);
    else if (IS("test"))
        while (!shmem_long_test(&flag, SHMEM_CMP_EQ, 1))
            ;
    else
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return NULL;
}

static void receive_and_tell(void)
{
    if (IS("lock"))
        shmem_set_lock(&lock);
    shmem_long_p(&is_ready, 1, 0);
    MPI_Recv(message, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(message[BYTES - 1], 7);
    if (IS("barrier"))
        shmem_barrier_all();
    else if (IS("lock"))
        shmem_clear_lock(&lock);
    else
        shmem_long_p(&flag, 1, 0);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "wait";
    int threads = IS("thread") || IS("finalize"), level;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
    CHECK(level >= (threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED));
    shmem_init_thread(threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_FUNNELED, &level);
    message = malloc(BYTES);
    memset(message, 7, BYTES);
    pthread_t other;
    if (IS("finalize")) {
        pthread_create(&other, NULL, wait_for_flag, NULL);
        usleep(300000);
        MPI_Finalize();
        usleep(300000);
        shmem_long_p(&flag, 1, shmem_my_pe());
        pthread_join(other, NULL);
    } else if (shmem_my_pe() == 0) {
        shmem_long_wait_until(&is_ready, SHMEM_CMP_EQ, 1);
        if (IS("thread")) {
            pthread_create(&other, NULL, send_and_wait, NULL);
            pthread_join(other, NULL);
        } else {
            send_and_wait(NULL);
        }
    } else if (shmem_my_pe() == 1) {
        receive_and_tell();
    }
    if (IS("lock") && shmem_my_pe() == 0)
        shmem_clear_lock(&lock);
    if (!IS("finalize"))
        MPI_Finalize();
    shmem_finalize();
    return 0;
}
