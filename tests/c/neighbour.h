/* neighbour.h: a busy process on the CPU of a PE that waits, and the time. */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Starts a process that computes until it is killed, on the CPUs of this one, with which it ends. */
static inline pid_t busy_neighbour(void)
{
    pid_t neighbour = fork();
    if (neighbour == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    return neighbour;
}

#endif
