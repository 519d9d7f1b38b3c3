/* slow_link DEVICE DEVICE: makes two Ethernet devices (tap) and carries frames between them as
 * a network of some distance does: each takes 1 ms, one in 64 takes half as long again, so that
 * others overtake it, and one in 100 is lost. Ends with the process that has started it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 2048, MOST = 4096 };

struct frame {
    long long due;
    int to;
    ssize_t bytes;
    char data[LONGEST];
};

/* Frames that are on the way for the same time: first in, first out. */
struct way {
    long long takes;
    unsigned first, end;
    struct frame frames[MOST];
};

static struct way usual = {.takes = 1000000}, late = {.takes = 1500000};

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int device(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) {
        perror("/dev/net/tun");
        exit(1);
    }
    return fd;
}

/* Takes all frames that have come; what has no room is lost, as in a network. */
static void take(int from, int to)
{
    static unsigned count;
    for (;;) {
        struct way *way = ++count % 64 == 0 ? &late : &usual;
        struct frame *frame = &way->frames[way->end % MOST];
        static char rest[LONGEST];
        int lost = way->end - way->first == MOST || count % 100 == 0;
        ssize_t bytes = read(from, lost ? rest : frame->data, LONGEST);
        if (bytes <= 0)
            return;
        if (lost)
            continue;
        frame->due = now() + way->takes;
        frame->to = to;
        frame->bytes = bytes;
        way->end++;
    }
}

/* Delivers what is due; how long until the next one is, or -1. */
static long long deliver(struct way *way)
{
    while (way->first != way->end) {
        struct frame *frame = &way->frames[way->first % MOST];
        long long left = frame->due - now();
        if (left > 0)
            return left;
        if (write(frame->to, frame->data, (size_t)frame->bytes) < 0) {
            /* The device is down: lost. */
        }
        way->first++;
    }
    return -1;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int ends[2] = {device(argv[1]), device(argv[2])};
    puts("ready");
    fclose(stdout);
    for (;;) {
        long long next = deliver(&usual), other = deliver(&late);
        if (next < 0 || (other >= 0 && other < next))
            next = other;
        struct timespec pause = {.tv_nsec = next};
        struct pollfd fds[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLIN}};
        ppoll(fds, 2, next < 0 ? NULL : &pause, NULL);
        take(ends[0], ends[1]);
        take(ends[1], ends[0]);
    }
}
