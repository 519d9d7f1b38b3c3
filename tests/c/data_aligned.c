// pes: 1 2 4
// variants: all
/* Static data of large alignment, for which linkers leave gaps in the data segment, is symmetric
 * like any other. rule 0.8 */
#include "check.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KIB_64 = 64 << 10, MIB_2 = 2 << 20 };
static long plain = 1;
static _Alignas(KIB_64) long of_64_kib[3] = {2, 3, 4};
static _Alignas(MIB_2) long of_2_mib[3] = {5, 6, 7};
static _Alignas(KIB_64) long zero_64_kib[3];
static _Alignas(MIB_2) long zero_2_mib[3];
static long zero;

static long *const words[] = {&plain,          &of_64_kib[1],  &of_2_mib[1],
                              &zero_64_kib[1], &zero_2_mib[1], &zero};
enum { WORDS = sizeof words / sizeof *words };

/* The system's own code (vdso), which may lie in a gap of a static program. */
static int clock_runs(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0;
}

int main(void)
{
    static const long first[WORDS] = {1, 3, 6, 0, 0, 0};
    zero_2_mib[2] = 9;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes, from = (me + npes - 1) % npes;
    for (int i = 0; i < WORDS; i++) {
        CHECK_EQ(*words[i], first[i]);
        CHECK_EQ(shmem_addr_accessible(words[i], to), 1);
    }
    CHECK_EQ(zero_2_mib[2], 9);
    CHECK(clock_runs());
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        shmem_long_p(words[i], 100 * i + me, to);
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++) {
        CHECK_EQ(*words[i], 100 * i + from);
        CHECK_EQ(shmem_long_g(words[i], to), 100 * i + me);
    }
    CHECK_EQ(of_64_kib[2], 4);
    CHECK_EQ(of_2_mib[0], 5);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int wrong = !clock_runs();
        for (int i = 0; i < WORDS; i++) {
            wrong |= *words[i] != 100 * i + from;
            *words[i] = -1;
        }
        _exit(wrong);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(*words[i], 100 * i + from);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
