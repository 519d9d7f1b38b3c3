/* Two threads of each PE add to a counter on PE 0. Compile with -pthread. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

static long counter;

static void *add(void *nothing)
{
    (void)nothing;
    shmem_long_atomic_inc(&counter, 0);
    return NULL;
}

int main(void)
{
    int provided;
    pthread_t thread;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0)
        return 1;
    shmem_query_thread(&provided);
    if (provided < SHMEM_THREAD_MULTIPLE)
        shmem_global_exit(1);
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 3 ./threads
 * 6 */
