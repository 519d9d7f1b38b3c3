/* race: two threads of a PE add to one variable without order. ThreadSanitizer must
 * find that, or it finds nothing. The race is both in this program and, by way of
 * shmem_putmem, in what the library does for it. */
#include <pthread.h>
#include <sched.h>
#include <shmem.h>

static long counter, object, source[2];
/* They take turns, by a variable that orders nothing: the sanitizer forgets what lies long back. */
static volatile int turn;

static void *work(void *argument)
{
    long *mine = argument;
    int me = (int)(mine - source);
    for (int i = 0; i < 1000; i++) {
        while (turn != me)
            sched_yield();
        counter++;
        shmem_putmem(&object, mine, sizeof object, shmem_my_pe());
        turn = 1 - me;
    }
    return NULL;
}

int main(void)
{
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0)
        return 1;
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, work, &source[t]);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    shmem_finalize();
    return 0;
}
