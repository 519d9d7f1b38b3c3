/* over_nodes WHAT ...: what PEs of a job over several nodes do and print. */
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;
static long from[64];

/* Each PE puts its number to the next one of its node. */
static void near(void)
{
    int me = shmem_my_pe(), size = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    int index = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    int next = shmem_team_translate_pe(SHMEM_TEAM_SHARED, (index + 1) % size, SHMEM_TEAM_WORLD);
    shmem_long_p(&word, me + 1000, next);
    shmem_long_atomic_add(&from[0], 1, shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD));
    shmem_team_sync(SHMEM_TEAM_SHARED);
    printf("PE %d of %d: %d near, number %d, word %ld, count %ld\n", me, shmem_n_pes(), size, index,
           word, index == 0 ? from[0] : -1);
}

/* Each PE puts its number to the next one, wherever that is, and all count on the last one. */
static void ring(void)
{
    int me = shmem_my_pe(), size = shmem_n_pes();
    shmem_long_p(&word, me + 1000, (me + 1) % size);
    shmem_long_atomic_add(&from[0], 1, size - 1);
    shmem_barrier_all();
    printf("PE %d of %d: word %ld, count %ld\n", me, size, word, shmem_long_g(&from[0], size - 1));
}

/* Lines in pieces. */
static void lines(int count)
{
    for (int i = 0; i < count; i++) {
        printf("line %d ", i);
        fflush(stdout);
        printf("of PE %d\n", shmem_my_pe());
        if (i % 100 == 0)
            fprintf(stderr, "note %d of PE %d\n", i, shmem_my_pe());
    }
}

static void input(void)
{
    unsigned long bytes = 0, sum = 0;
    for (int c; (c = getchar()) != EOF; bytes++)
        sum = sum * 31 + (unsigned)c;
    printf("PE %d read %lu bytes, sum %lu\n", shmem_my_pe(), bytes, sum);
}

/* Every PE has unwritten output when PE 0 ends the job; some wait, others compute. */
static void last_words(int status)
{
    int me = shmem_my_pe();
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    printf("last words of PE %d\n", me);
    shmem_barrier_all();
    if (me == 0)
        shmem_global_exit(status);
    for (volatile long turns = 0; me % 2 == 1;)
        turns++;
    shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
}

/* Stops the agent of this node for some seconds. */
static void stop_agent(unsigned seconds)
{
    char line[256], name[64];
    int parent;
    for (int pid = 1; pid < 1 << 22; pid++) {
        snprintf(line, sizeof line, "/proc/%d/stat", pid);
        FILE *file = fopen(line, "r");
        if (file == NULL)
            continue;
        int fields = fscanf(file, "%*d (%63[^)]) %*c %d", name, &parent);
        fclose(file);
        if (fields == 2 && parent == getppid() && strcmp(name, "oshrun-agent") == 0) {
            kill(pid, SIGSTOP);
            if (fork() == 0) {
                sleep(seconds);
                kill(pid, SIGCONT);
                _exit(0);
            }
            return;
        }
    }
    fprintf(stderr, "no agent\n");
    exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "near";
    if (strcmp(what, "stopped") == 0 && strncmp(getenv("ONESHMEM_PE"), "0:", 2) == 0)
        stop_agent(1);
    shmem_init();
    int me = shmem_my_pe();
    int is_meant = argc > 2 && atoi(argv[2]) == me;
    if (strcmp(what, "near") == 0)
        near();
    else if (strcmp(what, "ring") == 0)
        ring();
    else if (strcmp(what, "lines") == 0)
        lines(atoi(argv[2]));
    else if (strcmp(what, "input") == 0)
        input();
    else if (strcmp(what, "last_words") == 0)
        last_words(atoi(argv[2]));
    else if (strcmp(what, "far") == 0 && is_meant)
        shmem_long_p(&word, 1, atoi(argv[3]));
    else if (strcmp(what, "silent") == 0) {
        /* PE 0 stops its agent for longer than others wait without a word. */
        int last = shmem_n_pes() - 1, by_put = strcmp(argv[2], "put") == 0;
        if (me == last)
            shmem_long_p(&word, 1, 0);
        shmem_barrier_all();
        if (me == 0)
            stop_agent(13);
        if (me == 0 && by_put)
            sleep(2);
        if (me == last && by_put) {
            sleep(1);
            shmem_long_p(&word, 2, 0);
            shmem_quiet();
        }
        shmem_barrier_all();
    }
    else if (strcmp(what, "lost") == 0) {
        if (is_meant)
            _exit(9);
        shmem_barrier_all();
    }
    else if (strcmp(what, "variables") == 0) {
        char directory[4096];
        printf("%s %s %s %s in %s\n", getenv("SHMEM_DEBUG"), getenv("SMA_VERSION"), getenv("GIVEN"),
               getenv("NOT_GIVEN"), getcwd(directory, sizeof directory));
    } else if (strcmp(what, "exit") == 0 && is_meant)
        _exit(atoi(argv[3]));
    else if (strcmp(what, "global_exit") == 0 && is_meant)
        shmem_global_exit(atoi(argv[3]));
    else if (strcmp(what, "linger") == 0) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[2], me);
        close(open(name, O_CREAT | O_WRONLY, 0600));
        for (;;)
            sleep(1000);
    }
    if (strcmp(what, "far") == 0 || strcmp(what, "exit") == 0 || strcmp(what, "global_exit") == 0)
        while (!is_meant)
            sleep(1000);
    shmem_finalize();
    return strcmp(what, "return") == 0 && is_meant ? atoi(argv[3]) : 0;
}
