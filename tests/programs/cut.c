/* cut WHEN: PE 0 takes its host off the network while it connects to the other host for the first time, at a
 * moment that the library's own calls show: before it connects ("connect"), once the other side has proved that
 * it belongs to the job ("proved"), or once it has admitted UCX's connection ("admitted"). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <net/if.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int when; /* the size of the answer after which the network goes; 0 for never */

static void cut(void)
{
    struct ifreq device = { .ifr_name = "eth0" };
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (ioctl(fd, SIOCGIFFLAGS, &device) != 0)
        abort();
    device.ifr_flags &= ~IFF_UP;
    if (ioctl(fd, SIOCSIFFLAGS, &device) != 0)
        abort();
    close(fd);
    fputs("cut\n", stderr);
}

/* The library reads the other side's proof (32 bytes, after 8 and 32 of its greeting) and its verdict (1 byte). */
ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
    static ssize_t (*real)(int, void *, size_t, int);
    static int proofs;
    if (!real)
        real = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    ssize_t got = real(fd, to, bytes, flags);
    int is_proof = bytes == 32 && got == 32 && ++proofs == 2;
    if (when && ((when == 32 && is_proof) || (when == 1 && bytes == 1 && got == 1))) {
        when = 0;
        cut();
    }
    return got;
}

int main(int argc, char **argv)
{
    shmem_init();
    if (argc != 2)
        shmem_global_exit(2);
    if (shmem_my_pe() == 0) {
        if (strcmp(argv[1], "connect") == 0)
            cut();
        when = strcmp(argv[1], "proved") == 0 ? 32 : strcmp(argv[1], "admitted") == 0 ? 1 : 0;
        static long word;
        shmem_long_p(&word, 1, 1);
        shmem_quiet();
    }
    for (;;)
        sleep(1000);
}
