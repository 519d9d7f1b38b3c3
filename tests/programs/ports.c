/* A job over hosts, and a stranger who can connect to its ports on one of them.
 *
 *     ports job          PEs access each other for a while, and find nothing changed by others
 *     ports attack       connects to every port of this network for a while, and sends what harms UCX
 *     ports late FILE    PEs access each other as soon as FILE exists, and tell how long the first time takes
 *     ports list         prints the ports of this network, once there are two
 *     ports flood FILE ADDRESS PORT...
 *                        holds as many connections to each port as it can, until it is ended, and makes FILE
 *                        when there are many
 */
#define _GNU_SOURCE
#include <shmem.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400, MOST = 200, VALUE = 0x5ec4e7, HELD = 2000, FLOODS = 4, PATIENCE = 60 };
static volatile long variable = VALUE;

static int job(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *heap = shmem_malloc(4096);
    heap[0] = me;
    shmem_barrier_all();
    int changed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int other = (me + npes / 2) % npes;
        changed += shmem_long_g((long *)&variable, other) != VALUE;
        changed += shmem_long_g(heap, other) != other;
        changed += variable != VALUE || heap[0] != me;
        usleep(2000);
    }
    shmem_barrier_all();
    if (changed)
        fprintf(stderr, "PE %d: %d values changed\n", me, changed);
    else if (me == 0)
        puts("nothing changed");
    shmem_finalize();
    return changed != 0;
}

/* The ports that processes listen at in this network, as /proc shows them. */
static int ports(struct sockaddr_in *found, int room) {
    FILE *table = fopen("/proc/self/net/tcp", "r");
    char line[512];
    int count = 0;
    while (table && fgets(line, sizeof line, table) && count < room) {
        unsigned address, port, state;
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x", &address, &port, &state) == 3 && state == 0x0a) {
            struct sockaddr_in it = { .sin_family = AF_INET, .sin_port = htons(port) };
            it.sin_addr.s_addr = address;
            found[count++] = it;
        }
    }
    if (table)
        fclose(table);
    return count;
}

static int attack(void) {
    /* The magic number of UCX's connections, and what may follow it. */
    static const unsigned char magic[] = { 0x78, 0x56, 0x34, 0x12, 0xbe, 0xba, 0xfe, 0xca };
    static const unsigned char large[] = { 31, 0xff, 0xff, 0xff, 0x7f }, request[] = { 0x20, 0x1d, 0, 0, 0 };
    static int open[MOST];
    int connections = 0, most = 0;
    time_t until = time(NULL) + 2;
    while (time(NULL) < until) {
        struct sockaddr_in found[64];
        int count = ports(found, 64);
        most = count > most ? count : most;
        for (int i = 0; i < count; i++) {
            for (int kind = 0; kind < 3; kind++) {
                int fd = socket(AF_INET, SOCK_STREAM, 0);
                if (fd < 0 || connect(fd, (struct sockaddr *)&found[i], sizeof found[i]) != 0) {
                    close(fd);
                    continue;
                }
                unsigned char bytes[128];
                memset(bytes, kind == 2 ? 0x41 : 0xff, sizeof bytes);
                if (kind < 2)
                    memcpy(bytes, magic, sizeof magic);
                memcpy(bytes + sizeof magic, kind == 0 ? large : request, sizeof large);
                if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0)
                    connections++;
                /* It stays open for a while. */
                int *place = &open[connections % MOST];
                if (*place > 0)
                    close(*place);
                *place = fd;
            }
        }
        usleep(1000);
    }
    printf("%d ports, %s connections\n", most, connections > MOST ? "many" : "few");
    return 0;
}

static int late(const char *file) {
    time_t until = time(NULL) + PATIENCE;
    while (access(file, F_OK) != 0) {
        if (time(NULL) > until)
            return fprintf(stderr, "no flood\n"), 1;
        usleep(10000);
    }
    static long count;
    time_t begin = time(NULL);
    shmem_init();
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_long_atomic_inc(&count, pe);
    shmem_barrier_all();
    if (count != shmem_n_pes())
        fprintf(stderr, "PE %d: count is %ld\n", shmem_my_pe(), count);
    else
        printf("met after %ld s\n", (long)(time(NULL) - begin));
    shmem_finalize();
    return 0;
}

static int list(void) {
    struct sockaddr_in found[64];
    for (int tries = 100 * PATIENCE; tries > 0; tries--) {
        int count = ports(found, 64), others = 0;
        /* A port may have two listeners. */
        for (int i = 1; i < count; i++)
            others += found[i].sin_port != found[0].sin_port;
        for (int i = 0; i < count && others; i++)
            printf("%d\n", ntohs(found[i].sin_port));
        if (others)
            return 0;
        usleep(10000);
    }
    return 1;
}

static int flood(const char *file, const char *address, char **ports) {
    struct sockaddr_in to = { .sin_family = AF_INET };
    inet_pton(AF_INET, address, &to.sin_addr);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    /* Several processes for each port, to be faster than the job. */
    while (ports[1] && fork() != 0)
        ports++;
    for (int i = 1; i < FLOODS && fork() != 0; i++)
        ;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    to.sin_port = htons(atoi(ports[0]));
    static struct pollfd held[HELD];
    long connected = 0;
    for (int i = 0; i < HELD; i++)
        held[i].fd = -1;
    for (time_t begin = time(NULL), now = begin; now < begin + 2 * PATIENCE; now = time(NULL)) {
        for (int i = 0; i < HELD; i++) {
            if (held[i].fd >= 0 && held[i].revents & (POLLERR | POLLHUP | POLLRDHUP)) {
                close(held[i].fd);
                held[i].fd = -1;
            } else if (held[i].revents & POLLOUT) {
                held[i].events = POLLRDHUP;
                connected++;
            }
            if (held[i].fd >= 0)
                continue;
            held[i] = (struct pollfd){ socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), POLLOUT | POLLRDHUP, 0 };
            connect(held[i].fd, (struct sockaddr *)&to, sizeof to);
        }
        /* The queue is full. */
        if (connected >= MOST && now >= begin + 2)
            close(open(file, O_CREAT | O_WRONLY, 0600));
        poll(held, HELD, 10);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "late") == 0 && argc > 2)
        return late(argv[2]);
    if (strcmp(mode, "list") == 0)
        return list();
    if (strcmp(mode, "flood") == 0 && argc > 4)
        return flood(argv[2], argv[3], argv + 4);
    return strcmp(mode, "attack") == 0 ? attack() : job();
}
