// pes: 1 2 4
/* Pages of static data that the program has protected keep their protection and their content, when the data
 * become symmetric and in a forked child: a guard page, one that is read only, and one with code. */
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static _Alignas(PAGE) unsigned char guard[PAGE], fixed[PAGE], code[PAGE];
static long word;
static sigjmp_buf back;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static int faults(volatile unsigned char *at, int writes)
{
    struct sigaction own = {.sa_handler = on_fault}, before;
    volatile int fault = 1;
    sigaction(SIGSEGV, &own, &before);
    if (sigsetjmp(back, 1) == 0) {
        if (writes)
            *at = 1;
        else
            (void)*at;
        fault = 0;
    }
    sigaction(SIGSEGV, &before, NULL);
    return fault;
}

static void protect(unsigned char *page, int protection)
{
    CHECK(mprotect(page, PAGE, protection) == 0);
}

static void look(void)
{
    CHECK(faults(guard, 0));
    CHECK(faults(fixed, 1));
    CHECK_EQ(fixed[PAGE - 1], 7);
    CHECK(faults(code, 1));
#ifdef __x86_64__
    int (*run)(void) = (int (*)(void))(size_t)code;
    CHECK_EQ(run(), 42);
#endif
}

int main(void)
{
    static const unsigned char returns_42[] = {0xb8, 42, 0, 0, 0, 0xc3};
    memset(guard, 5, PAGE);
    memset(fixed, 7, PAGE);
    memcpy(code, returns_42, sizeof returns_42);
    protect(guard, PROT_NONE);
    protect(fixed, PROT_READ);
    protect(code, PROT_READ | PROT_EXEC);
    shmem_init();
    look();
    word = shmem_my_pe();
    shmem_barrier_all();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    CHECK_EQ(shmem_long_g(&word, next), next);
    pid_t child = fork();
    if (child == 0) {
        look();
        protect(guard, PROT_READ);
        CHECK_EQ(guard[PAGE - 1], 5);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    look();
    protect(guard, PROT_READ);
    CHECK_EQ(guard[0], 5);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
