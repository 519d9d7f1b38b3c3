/* forked.h: how a forked child ends. */
#ifndef FORKED_H
#define FORKED_H

#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>

/* The status of a forked child that means to exit with 0. In a static program with several threads
 * over a C library that blocks all signals while it forks, it ends by a fault, and harms nobody. */
static inline int forked_status(void)
{
    unsigned major = 0, minor = 0;
    sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor);
    return getauxval(AT_BASE) == 0 && (major > 2 || minor >= 41) ? SIGSEGV : 0;
}

#endif
