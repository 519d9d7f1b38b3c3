/* A part of the imitation that lets programs written for the processor's memory run over a device's, if it is preloaded
 * with IMITATION_REACH set: the program can load and store, and so can the C library's routines that it calls, but not
 * the OpenSHMEM library. The program's first access opens the memory, and has the library's code fault; the first
 * instruction of the library closes the memory again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

extern int imitation_has(const void *address);
extern void imitation_protect(int protection);

enum { FRAMES = 48 };

struct code {
    uintptr_t start, end;
};
struct wanted {
    uintptr_t within; /* 0: anywhere */
    struct code *code;
};
static struct code program, c_library, library;
static int active, turn;
static struct sigaction others; /* what the library has set for SIGSEGV */
static int (*set)(int, const struct sigaction *, struct sigaction *);

static int is_in(struct code code, uintptr_t at)
{
    return at >= code.start && at < code.end;
}

/* Whether the program is at this instruction, or a routine of the C library that it has called. */
static int is_programs(uintptr_t instruction)
{
    void *frames[FRAMES];
    if (!is_in(c_library, instruction))
        return is_in(program, instruction);
    int n = backtrace(frames, FRAMES), i = 0;
    while (i < n && (uintptr_t)frames[i] != instruction)
        i++;
    while (i < n && is_in(c_library, (uintptr_t)frames[i]))
        i++;
    return i < n && is_in(program, (uintptr_t)frames[i]);
}

/* For the program, or for the library. */
static void give_to(int is_program)
{
    int code = is_program ? PROT_READ : PROT_READ | PROT_EXEC;
    while (__atomic_exchange_n(&turn, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    if (is_program)
        mprotect((void *)library.start, library.end - library.start, code);
    imitation_protect(is_program ? PROT_READ | PROT_WRITE : PROT_NONE);
    if (!is_program)
        mprotect((void *)library.start, library.end - library.start, code);
    __atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
}

static void fault(int number, siginfo_t *info, void *context)
{
    uintptr_t instruction = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (info->si_code > 0 && is_in(library, (uintptr_t)info->si_addr)) {
        give_to(0);
    } else if (info->si_code > 0 && imitation_has(info->si_addr) && is_programs(instruction)) {
        give_to(1);
    } else {
        give_to(0);
        if (others.sa_flags & SA_SIGINFO)
            others.sa_sigaction(number, info, context);
        else
            set(SIGSEGV, &others, NULL); /* the instruction faults again */
    }
}

/* The library's handler comes after this one. */
int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    if (set == NULL)
        *(void **)&set = dlsym(RTLD_NEXT, "sigaction");
    if (!active || number != SIGSEGV)
        return set(number, new, old);
    if (old != NULL)
        *old = others;
    if (new != NULL)
        others = *new;
    return 0;
}

/* The first object is the program. */
static int find_code(struct dl_phdr_info *object, size_t bytes, void *of)
{
    const struct wanted *wanted = of;
    (void)bytes;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr, page = 4096;
        struct code code = {start & -page, (start + segment->p_memsz + page - 1) & -page};
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
            (wanted->within == 0 || is_in(code, wanted->within))) {
            *wanted->code = code;
            return 1;
        }
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    /* Any routine of the C library that is not chosen by the processor. */
    uintptr_t of_c = (uintptr_t)dlsym(RTLD_NEXT, "abort");
    uintptr_t of_library = (uintptr_t)dlsym(RTLD_NEXT, "pshmem_init");
    if (getenv("IMITATION_REACH") == NULL || of_library == 0)
        return;
    dl_iterate_phdr(find_code, &(struct wanted){0, &program});
    dl_iterate_phdr(find_code, &(struct wanted){of_c, &c_library});
    dl_iterate_phdr(find_code, &(struct wanted){of_library, &library});
    void *first[1];
    backtrace(first, 1); /* loads what it needs */
    struct sigaction ours = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &ours, &others);
    active = 1;
}
