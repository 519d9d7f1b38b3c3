/* unreached HOW END: the last PE sleeps, and is killed if END is "killed"; meanwhile the others fail
 * to reach its memory: the system refuses to attach it ("attach"), or it is gone ("memory"), as over
 * XPMEM when a PE has died ("xpmem", where it is). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <shmem.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };
static _Alignas(PAGE) long page[PAGE / sizeof(long)];

/* From now on this process can attach no memory, by whatever backend. */
static void attach_no_more(void)
{
    enum { REFUSE = SECCOMP_RET_ERRNO | 12 /* ENOMEM */ };
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, REFUSE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        shmem_global_exit(2);
}

int main(int argc, char **argv)
{
    struct rlimit no_core = {0, 0};
    shmem_init();
    int victim = shmem_n_pes() - 1;
    if (argc != 3 || setrlimit(RLIMIT_CORE, &no_core) != 0)
        shmem_global_exit(2);
    int killed = strcmp(argv[2], "killed") == 0;
    int attaches = strcmp(argv[1], "attach") == 0;
    long *there = attaches ? NULL : shmem_ptr(page, victim);
    shmem_barrier_all();
    if (shmem_my_pe() == victim) {
        usleep(100000); /* so that the others have failed, mostly */
        if (killed)
            kill(getpid(), SIGKILL);
    } else if (strcmp(argv[1], "xpmem") == 0) {
        for (volatile long *word = there;; usleep(1000))
            *word = 1;
    } else if (!attaches) {
        int empty = memfd_create("empty", 0);
        if (mmap(there, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, empty, 0) != there)
            shmem_global_exit(2);
        there[1] = 1;
    } else {
        attach_no_more();
        shmem_long_p(page, 1, victim);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
