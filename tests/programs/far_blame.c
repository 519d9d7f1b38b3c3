/* far_blame HOW SIGNAL: the last PE dies of a signal while the others communicate with it: by puts ("put"), gets
 * ("get"), atomic operations ("atomic"), a lock that it holds ("lock"), or collectives ("barrier"); or while UCX has
 * ended PE 0 by an assertion ("assertion"), as it does if the partner of a half-open connection dies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static long word, lock, block[16384], copy[16384];

int main(int argc, char **argv)
{
    struct rlimit no_core = {0, 0};
    shmem_init();
    int victim = shmem_n_pes() - 1, is_victim = shmem_my_pe() == victim;
    if (argc != 3 || setrlimit(RLIMIT_CORE, &no_core) != 0)
        shmem_global_exit(2);
    const char *how = argv[1];
    if (is_victim && strcmp(how, "lock") == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 0 && strcmp(how, "assertion") == 0) {
        void *ucs = dlopen("libucs.so.0", RTLD_NOW | RTLD_NOLOAD), *fail = ucs ? dlsym(ucs, "ucs_fatal_error_message") : NULL;
        if (fail == NULL)
            shmem_global_exit(3);
        char words[] = "an assertion";
        ((void (*)(const char *, unsigned, const char *, char *))fail)(__FILE__, __LINE__, __func__, words);
    }
    if (is_victim) {
        usleep(200000); /* while the others are at it */
        raise(atoi(argv[2]));
    }
    for (;;) {
        if (strcmp(how, "put") == 0) {
            shmem_long_put(block, copy, 16384, victim);
            shmem_long_p(&word, 1, victim);
            shmem_quiet();
        } else if (strcmp(how, "get") == 0) {
            shmem_long_get(copy, block, 16384, victim);
        } else if (strcmp(how, "atomic") == 0) {
            shmem_long_atomic_fetch_inc(&word, victim);
        } else if (strcmp(how, "lock") == 0) {
            shmem_set_lock(&lock);
        } else {
            shmem_barrier_all();
        }
    }
}
