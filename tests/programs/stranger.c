/* stranger SECONDS: as another user, tries for so long to read, move or remove what jobs
 * make to meet, and to connect to their sockets. Prints what it saw and what it could do. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char *const folders[] = {"/dev/shm", "/tmp"};
static long seen, done;

static void attack(const char *path)
{
    char text[256], place[256], moved[600];
    seen++;
    snprintf(moved, sizeof moved, "%s.mine", path);
    if (rename(path, moved) == 0 || unlink(path) == 0)
        done++;
    int fd = open(path, O_RDWR);
    if (fd >= 0)
        done++, close(fd);
    ssize_t bytes = readlink(path, text, sizeof text - 1);
    int pid, file;
    unsigned long long started;
    if (bytes > 0 && (text[bytes] = 0, sscanf(text, "%d %llu %d", &pid, &started, &file) == 3)) {
        snprintf(place, sizeof place, "/proc/%d/fd/%d", pid, file - 1);
        fd = open(place, O_RDWR);
        if (fd >= 0)
            done++, close(fd);
    }
}

static void look_for_sockets(void)
{
    char line[512];
    FILE *list = fopen("/proc/net/unix", "r");
    while (list && fgets(line, sizeof line, list)) {
        char *name = strstr(line, "@oneshmem");
        if (!name)
            continue;
        name[strcspn(name, "\n")] = 0;
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd, (void *)&address, sizeof(sa_family_t) + strlen(name)) == 0)
            done++;
        close(fd);
    }
    if (list)
        fclose(list);
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    if (getuid() == 0)
        return 2;
    while (time(NULL) <= end) {
        for (int i = 0; i < 2; i++) {
            DIR *folder = opendir(folders[i]);
            for (struct dirent *entry; folder && (entry = readdir(folder));) {
                char path[512];
                snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
                if (strncmp(entry->d_name, "oneshmem-", 9) == 0)
                    attack(path);
            }
            if (folder)
                closedir(folder);
        }
        look_for_sockets();
    }
    printf("seen %ld done %ld\n", seen, done);
    return 0;
}
