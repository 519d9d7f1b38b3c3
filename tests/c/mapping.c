// pes: 2 4
// device: no
// variants: pie static
/* What the library opens closes on exec, and is opened once, over several sessions; the
 * addresses of the peers' copies stay taken after finalisation, so that nothing else of
 * the process can come to lie there. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static long word;

static void check_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    int ours = 0, devices = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[64], target[256] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%.32s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) < 0)
            continue;
        int device = strcmp(target, "/dev/xpmem") == 0;
        if (device || strncmp(target, "/memfd:oneshmem", 15) == 0) {
            ours++;
            devices += device;
            CHECK_EQ(fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        }
    }
    closedir(folder);
    CHECK(ours >= 1 && ours <= 2);
    CHECK(devices <= 1);
}

/* Whether an address belongs to a mapping, accessible or not. */
static int is_taken(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    char line[512];
    unsigned long start, end, wanted = (unsigned long)address;
    int taken = 0;
    while (!taken && fgets(line, sizeof line, maps) != NULL)
        taken = sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= wanted && wanted < end;
    fclose(maps);
    return taken;
}

int main(void)
{
    for (int round = 0; round < 3; round++) {
        shmem_init();
        int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
        char *heap = shmem_malloc(1 << 20);
        char *of_heap = shmem_ptr(heap, to), *of_data = shmem_ptr(&word, to);
        CHECK(of_heap != NULL && of_data != NULL);
        shmem_long_p(&word, 10 * round + me, to);
        shmem_barrier_all();
        CHECK_EQ(word, 10 * round + (me + npes - 1) % npes);
        check_descriptors();
        shmem_barrier_all();
        shmem_finalize();
        check_descriptors();
        CHECK(is_taken(of_heap) && is_taken(of_data));
    }
    return 0;
}
