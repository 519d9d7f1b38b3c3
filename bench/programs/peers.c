/* What a process has in memory after it has talked to so many peers: its mappings, their page tables, and the
 * resident pages. PE 0 talks to one after the other; the size of a figure is the number of peers. Linux only. */
#include "bench.h"

static long *word;

/* The value behind a name in a file of /proc/self, or -1. */
static long value_of(const char *path, const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen(path, "r");
    while (file != NULL && value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = atol(line + strlen(name));
    if (file != NULL)
        fclose(file);
    return value;
}

static long lines_of(const char *path)
{
    long lines = 0;
    FILE *file = fopen(path, "r");
    for (int c; file != NULL && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file != NULL)
        fclose(file);
    return lines;
}

static void report(size_t peers)
{
    double maps = (double)lines_of("/proc/self/maps");
    double tables = (double)value_of("/proc/self/status", "VmPTE:") * 1024;
    double resident = (double)value_of("/proc/self/status", "VmRSS:") * 1024;
    bench_check(maps > 0 && tables > 0 && resident > 0, "/proc/self does not say what memory this process has");
    bench_report("peers.maps", peers, "count", &maps, 1);
    bench_report("peers.page_tables", peers, "B", &tables, 1);
    bench_report("peers.resident", peers, "B", &resident, 1);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    word = bench_alloc(sizeof *word);
    if (bench.pe == 0) {
        report(0);
        for (int pe = 1, next = 1; pe < bench.npes; pe++) {
            shmem_long_p(word, pe, pe);
            if (pe == next || pe == bench.npes - 1) {
                shmem_quiet();
                report((size_t)pe);
                next *= 2;
            }
        }
    }
    shmem_barrier_all();
    bench_check(bench.pe == 0 || *word == bench.pe, "the word is %ld", *word);
    bench_finish();
    return 0;
}
