// pes: 1 2
/* case per level: */
// case: single single
// case: funneled funneled
// case: serialized serialized
// case: multiple multiple
// cflags: -pthread
/* rule 2.1 to rule 2.5, rule 1.2: the four levels, and a thread where one is allowed. */
#include "check.h"
#include <pthread.h>

static long counter;

static void *call(void *argument)
{
    (void)argument;
    shmem_long_atomic_inc(&counter, 0);
    int level;
    shmem_query_thread(&level);
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", SHMEM_THREAD_SINGLE}, {"funneled", SHMEM_THREAD_FUNNELED},
                  {"serialized", SHMEM_THREAD_SERIALIZED}, {"multiple", SHMEM_THREAD_MULTIPLE}};
    CHECK(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED);
    CHECK(SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED);
    CHECK(SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE);
    CHECK(argc == 2);
    for (int i = 0; i < 4; i++) {
        if (strcmp(argv[1], levels[i].name) != 0)
            continue;
        int provided = -1, queried = -2;
        CHECK_EQ(shmem_init_thread(levels[i].level, &provided), 0);
        CHECK(provided >= levels[i].level && provided <= SHMEM_THREAD_MULTIPLE);
        shmem_query_thread(&queried);
        CHECK_EQ(queried, provided);
        if (levels[i].level >= SHMEM_THREAD_SERIALIZED) {
            pthread_t thread;
            pthread_create(&thread, NULL, call, NULL);
            pthread_join(thread, NULL);
        }
        shmem_barrier_all();
        if (levels[i].level >= SHMEM_THREAD_SERIALIZED)
            CHECK_EQ(shmem_long_g(&counter, 0), shmem_n_pes());
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    CHECK(!"a level this program knows");
    return 1;
}
