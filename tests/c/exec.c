// pes: 2 4
// variants: pie static
/* A PE may become another program: before it initialises, as a wrapper does, and after it
 * has finalised. In between that ends the job, at once or when somebody waits for the PE. */
// case: before before
// case: after after
// case: between between | status=nonzero stderr=(pid
// case: between-and-stays between-and-stays | status=nonzero stderr=(pid
// case: between-to-itself between-to-itself | status=nonzero stderr=(pid
#include "check.h"
#include <unistd.h>

static long word = -1;

/* A round of the ring, so that everybody has attached somebody. */
static void ring(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_long_p(&word, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(word, (me + npes - 1) % npes);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    const char *when = argv[1];
    if (strcmp(when, "before") == 0 && argc == 2) {
        char *again[] = {argv[0], argv[1], "again", NULL};
        execv("/proc/self/exe", again);
    }
    shmem_init();
    ring();
    int victim = shmem_my_pe() == shmem_n_pes() - 1;
    if (victim && strncmp(when, "between", 7) == 0) {
        char *itself[] = {argv[0], "before", "again", NULL};
        if (strcmp(when, "between") == 0)
            execlp("true", "true", NULL);
        else if (strcmp(when, "between-and-stays") == 0)
            execlp("sleep", "sleep", "1000", NULL);
        else
            execv("/proc/self/exe", itself);
        CHECK(0);
    }
    shmem_barrier_all();
    shmem_finalize();
    if (victim && strcmp(when, "after") == 0)
        execlp("true", "true", NULL);
    return strcmp(when, "before") == 0 || strcmp(when, "after") == 0 ? 0 : 1;
}
