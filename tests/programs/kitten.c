/* kitten: runs a static program as the loader and the system calls of the Kitten kernel would,
 * on Linux, by tracing it.
 *
 *     kitten RANKS HEAP_MIB PROGRAM [ARGUMENT...]
 *
 * Each rank's writable memory (data segment and heap, one region) is a piece of one memory
 * file, mapped in all ranks at the address it has in its own plus (rank + 1) << 39 before any
 * of them runs: SMARTMAP. System calls are answered as Kitten's sources do: mmap takes from
 * the top of the region whatever address it is asked for, brk from the bottom. Most others are
 * not there: a job that makes one ends at once, with status 125, unless it is in the list
 * `missing`; so does one that makes a call that Kitten has, but broken. Not imitated: where the
 * stack lies, what the processor's state may hold, and threads.
 *
 * Ends with the largest status of the ranks. With KITTEN_CALLS in the environment it tells
 * which calls of the list were made; with KITTEN_REMEMBERS it answers for ranks that have ended
 * as for those that run, as Kitten does until the loader unmaps them; with KITTEN_ROOT the ranks
 * run as root, and may signal each other. Without arguments it prints the list. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 16, FIRST_PID = 0x1000, FILE_NUMBER = 99 };
#define SHIFT 39

/* Calls that Kitten lacks, but that programs make, and work without. */
static const struct {
    int number;
    const char *why;
} missing[] = {
    {SYS_mincore, "to tell the kernels apart"},
    {SYS_memfd_create, "to tell the kernels apart"},
    {SYS_sigaltstack, "Rust's threads, and where the stack is"},
    {SYS_prlimit64, "limits: the C library, and programs"},
    {SYS_getrandom, "the C library's and Rust's hash tables"},
    {SYS_newfstatat, "files, of which there are none"},
    {SYS_rseq, "the C library"},
    {SYS_clock_nanosleep, "sleep and usleep of programs: no time passes"},
    {SYS_setitimer, "a rank that is told to end while it writes its last output"},
    {SYS_rt_tgsigqueueinfo, "before abort's signal takes its course"},
    {SYS_pidfd_open, "before a signal to another rank"},
};
enum { MISSING = sizeof missing / sizeof *missing };
#define PAGE 4096UL

static struct rank {
    pid_t pid;
    int running, in_call, answered;
    uint64_t answer;   /* of the call it is in, if `answered` */
    uint64_t brk, top; /* ends of the free part of its heap */
    int made[MISSING];
} ranks[MOST_RANKS];

static int nranks;
static uint64_t data_start, heap_start, region_end; /* alike in all ranks */
static char *memory;                                /* the whole memory file */

static _Noreturn void end_all(void)
{
    for (int i = 0; i < nranks; i++)
        if (ranks[i].pid > 0)
            kill(ranks[i].pid, SIGKILL);
    exit(125);
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    end_all();
}

static uint64_t region_bytes(void)
{
    return region_end - data_start;
}

static char *memory_of(int rank, uint64_t address)
{
    return memory + rank * region_bytes() + (address - data_start);
}

/* Where the program's writable segments lie; the heap follows the last segment. */
static void read_program(const char *path, uint64_t heap_bytes)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    int file = open(path, O_RDONLY);
    if (file < 0 || read(file, &header, sizeof header) != sizeof header)
        fail(path);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_EXEC) {
        fprintf(stderr, "kitten: %s is not an executable at a fixed address\n", path);
        exit(126);
    }
    data_start = UINT64_MAX;
    for (int i = 0; i < header.e_phnum; i++) {
        if (pread(file, &segment, sizeof segment, header.e_phoff + i * sizeof segment) < 0)
            fail(path);
        if (segment.p_type == PT_INTERP) {
            fprintf(stderr, "kitten: %s is not static\n", path);
            exit(126);
        }
        if (segment.p_type != PT_LOAD)
            continue;
        uint64_t end = (segment.p_vaddr + segment.p_memsz + PAGE - 1) & -PAGE;
        if (end > heap_start)
            heap_start = end;
        if ((segment.p_flags & PF_W) && segment.p_vaddr < data_start)
            data_start = segment.p_vaddr & -PAGE;
    }
    region_end = heap_start + heap_bytes;
    close(file);
}

/* Has a stopped rank make a system call. */
static uint64_t inject(pid_t pid, long call, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                       uint64_t e, uint64_t f)
{
    struct user_regs_struct saved, regs;
    int status;
    if (ptrace(PTRACE_GETREGS, pid, 0, &saved) != 0)
        fail("PTRACE_GETREGS");
    long code = ptrace(PTRACE_PEEKTEXT, pid, saved.rip, 0);
    if (ptrace(PTRACE_POKETEXT, pid, saved.rip, (code & ~0xffffL) | 0x050f) != 0)
        fail("PTRACE_POKETEXT");
    regs = saved;
    regs.rax = call, regs.rdi = a, regs.rsi = b, regs.rdx = c;
    regs.r10 = d, regs.r8 = e, regs.r9 = f;
    regs.orig_rax = -1;
    ptrace(PTRACE_SETREGS, pid, 0, &regs);
    ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
    if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
        fail("a rank ended while it was set up");
    ptrace(PTRACE_GETREGS, pid, 0, &regs);
    ptrace(PTRACE_POKETEXT, pid, saved.rip, code);
    ptrace(PTRACE_SETREGS, pid, 0, &saved);
    return regs.rax;
}

static void map_in(int rank, int of, uint64_t at)
{
    uint64_t got = inject(ranks[rank].pid, SYS_mmap, at, region_bytes(), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, FILE_NUMBER, of * region_bytes());
    if (got != at) {
        errno = -(int)got;
        fail("mapping a slot in a rank");
    }
}

/* Starts a rank and stops it at its first instruction, its memory moved to the file. */
static void load(int rank, char **arguments)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(arguments[0], arguments);
        _exit(127);
    }
    ranks[rank].pid = pid;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        fail("fork");
    ptrace(PTRACE_SETOPTIONS, pid, 0,
           PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC);
    ptrace(PTRACE_CONT, pid, 0, 0);
    if (waitpid(pid, &status, 0) != pid || status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
        fail("exec");
    /* Out of execve, which sets registers last of all. */
    ptrace(PTRACE_SYSCALL, pid, 0, 0);
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        fail("exec");
    /* Page by page: between two segments there may be one that is not mapped. */
    for (uint64_t at = data_start; at < heap_start; at += PAGE) {
        struct iovec to = {memory_of(rank, at), PAGE}, from = {(void *)at, PAGE};
        if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)PAGE && errno != EFAULT)
            fail("reading a rank's data segment");
    }
    map_in(rank, rank, data_start);
    ranks[rank].running = 1;
    ranks[rank].brk = heap_start;
    ranks[rank].top = region_end;
}

static struct rank *by_number(uint64_t pid)
{
    uint64_t rank = pid - FIRST_PID;
    int known = rank < (uint64_t)nranks && (ranks[rank].running || getenv("KITTEN_REMEMBERS"));
    return known ? &ranks[rank] : NULL;
}

/* A call that Kitten lacks. */
static uint64_t lacking(struct rank *rank, uint64_t call)
{
    for (int i = 0; i < MISSING; i++) {
        if (missing[i].number == (int)call) {
            rank->made[i]++;
            return -ENOSYS;
        }
    }
    fprintf(stderr, "kitten: rank %d made call %d, which Kitten lacks\n", (int)(rank - ranks),
            (int)call);
    end_all();
}

/* What Kitten answers to a call; passes it on to Linux if it returns 0. */
static int answer(struct rank *rank, const struct user_regs_struct *regs, uint64_t *result)
{
    int number = (int)(rank - ranks);
    uint64_t a = regs->rdi, b = regs->rsi, c = regs->rdx;
    switch (regs->orig_rax) {
    case SYS_read: case SYS_write: case SYS_writev: case SYS_readv: case SYS_lseek:
    case SYS_poll: case SYS_ppoll: case SYS_fcntl: case SYS_ioctl: case SYS_close:
    case SYS_dup: case SYS_dup2: case SYS_uname:
    case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_rt_sigreturn:
    case SYS_arch_prctl: case SYS_set_tid_address:
    case SYS_sched_yield: case SYS_nanosleep: case SYS_futex:
    case SYS_clock_gettime: case SYS_clock_getres: case SYS_gettimeofday: case SYS_time:
    case SYS_exit: case SYS_exit_group:
        return 0;
    case SYS_alarm:
        fprintf(stderr, "kitten: rank %d made call %d (alarm): at the second, Kitten puts one "
                        "timer into a list twice, and loops there for ever\n", number, SYS_alarm);
        end_all();
    case SYS_set_robust_list:
        *result = -ENOSYS;
        break;
    case SYS_getuid: case SYS_geteuid: case SYS_getgid: case SYS_getegid:
        *result = getenv("KITTEN_ROOT") == NULL;
        break;
    case SYS_fstat: /* files are there, just none of ours */
        return 0;
    case SYS_open: case SYS_openat: case SYS_access: case SYS_readlink:
        *result = -ENOENT;
        break;
    case SYS_stat: case SYS_lstat:
        *result = -EBADF;
        break;
    case SYS_mmap: {
        /* The address, protection and MAP_FIXED are ignored. */
        uint64_t at = rank->top - b;
        if (b % PAGE != 0 || !(regs->r10 & MAP_ANONYMOUS)) {
            *result = -EINVAL;
        } else if (b > rank->top || at <= rank->brk) {
            *result = -ENOMEM;
        } else {
            rank->top = *result = at;
            memset(memory_of(number, at), 0, b);
        }
        break;
    }
    case SYS_munmap: case SYS_mprotect: case SYS_madvise:
        *result = 0;
        break;
    case SYS_mremap:
        *result = c <= b ? a : (uint64_t)-ENOSYS;
        break;
    case SYS_brk:
        if (a >= heap_start && a < rank->top)
            rank->brk = a;
        *result = rank->brk;
        break;
    case SYS_getpid: case SYS_gettid:
        *result = FIRST_PID + number;
        break;
    case SYS_getrlimit: {
        uint64_t limits[2] = {RLIM_INFINITY, RLIM_INFINITY};
        struct iovec from = {limits, sizeof limits}, to = {(void *)b, sizeof limits};
        if (a == RLIMIT_AS || a == RLIMIT_STACK || a == RLIMIT_MEMLOCK) {
            process_vm_writev(rank->pid, &from, 1, &to, 1, 0);
            *result = 0;
        } else {
            *result = -EINVAL;
        }
        break;
    }
    case SYS_sched_getaffinity: {
        uint64_t mask[4] = {(1UL << nranks) - 1};
        struct iovec from = {mask, sizeof mask}, to = {(void *)c, sizeof mask};
        *result = b < sizeof mask ? (uint64_t)-EINVAL : sizeof mask;
        if (b >= sizeof mask)
            process_vm_writev(rank->pid, &from, 1, &to, 1, 0);
        break;
    }
    case SYS_kill: case SYS_tgkill: {
        struct rank *to = by_number(a);
        int signal = (int)(regs->orig_rax == SYS_kill ? b : c);
        *result = to == NULL ? -ESRCH : 0;
        if (to != NULL && signal != 0) {
            if (to == rank || getenv("KITTEN_ROOT"))
                kill(to->pid, signal);
            else
                *result = -EPERM;
        }
        break;
    }
    default:
        *result = lacking(rank, regs->orig_rax);
    }
    return 1;
}

/* A rank has stopped at the start or the end of a system call. */
static void call(struct rank *rank)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, rank->pid, 0, &regs) != 0)
        return;
    if (!rank->in_call) {
        rank->answered = answer(rank, &regs, &rank->answer);
        if (rank->answered) {
            regs.orig_rax = -1; /* no call */
            ptrace(PTRACE_SETREGS, rank->pid, 0, &regs);
        }
    } else if (rank->answered) {
        regs.rax = rank->answer;
        ptrace(PTRACE_SETREGS, rank->pid, 0, &regs);
    }
    rank->in_call = !rank->in_call;
}

int main(int argc, char **argv)
{
    for (int i = 0; argc == 1 && i < MISSING; i++)
        printf("%d %s\n", missing[i].number, missing[i].why);
    if (argc == 1)
        return 0;
    nranks = argc > 3 ? atoi(argv[1]) : 0;
    if (nranks < 1 || nranks > MOST_RANKS) {
        fprintf(stderr, "usage: kitten RANKS HEAP_MIB PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    read_program(argv[3], strtoull(argv[2], NULL, 10) << 20);
    int file = memfd_create("kitten", 0);
    if (file < 0 || ftruncate(file, nranks * region_bytes()) != 0 || dup2(file, FILE_NUMBER) < 0)
        fail("memfd_create");
    memory = mmap(NULL, nranks * region_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    for (int rank = 0; rank < nranks; rank++)
        load(rank, argv + 3);
    for (int rank = 0; rank < nranks; rank++)
        for (int of = 0; of < nranks; of++)
            map_in(rank, of, data_start | (uint64_t)(of + 1) << SHIFT);
    for (int rank = 0; rank < nranks; rank++)
        ptrace(PTRACE_SYSCALL, ranks[rank].pid, 0, 0);

    int status, worst = 0;
    for (int left = nranks; left > 0;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            fail("waitpid");
        struct rank *rank = ranks;
        while (rank < ranks + nranks && rank->pid != pid)
            rank++;
        if (rank == ranks + nranks)
            continue;
        if (WIFSTOPPED(status)) {
            int signal = WSTOPSIG(status);
            if (signal == (SIGTRAP | 0x80)) {
                call(rank);
                signal = 0;
            }
            ptrace(PTRACE_SYSCALL, pid, 0, signal);
            continue;
        }
        int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended > worst)
            worst = ended;
        rank->running = 0;
        left--;
        if (getenv("KITTEN_CALLS"))
            for (int i = 0; i < MISSING; i++)
                if (rank->made[i])
                    fprintf(stderr, "kitten: rank %d made call %d, which Kitten lacks, %d times\n",
                            (int)(rank - ranks), missing[i].number, rank->made[i]);
    }
    return worst;
}
