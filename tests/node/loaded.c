/* The library as a plugin's: loaded twice into one process and unloaded again, it takes nothing of the
 * process and leaves nothing behind. Each copy is a client of its own. */
#include "check.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
static long word = 5;

struct library {
    void *handle;
    const char *(*message)(void);
    int (*open)(const onenode_config *, onenode_t **);
    int (*close)(onenode_t *);
    int (*get_card)(onenode_t *, onenode_card *);
    int (*know)(onenode_t *, uint32_t *, const onenode_card *);
    int (*region)(onenode_t *, uint64_t, const onenode_memory *, void **, uint64_t *);
    int (*view_open)(onenode_t *, const uint64_t *, size_t, onenode_table *, onenode_view_t **);
    int (*view_close)(onenode_view_t *);
    void *(*resolve)(onenode_view_t *, const void *, size_t);
};

static void find(struct library *library, void *function, const char *name)
{
    void *found = dlsym(library->handle, name);
    CHECK(found != NULL);
    memcpy(function, &found, sizeof found);
}

static struct library load(const char *path)
{
    struct library library;
    memset(&library, 0, sizeof library);
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(&library, &library.message, "onenode_message");
    find(&library, &library.open, "onenode_open");
    find(&library, &library.close, "onenode_close");
    find(&library, &library.get_card, "onenode_get_card");
    find(&library, &library.know, "onenode_know");
    find(&library, &library.region, "onenode_region");
    find(&library, &library.view_open, "onenode_view_open");
    find(&library, &library.view_close, "onenode_view_close");
    find(&library, &library.resolve, "onenode_resolve");
    return library;
}

#define GOOD(library, call)                                                                        \
    do {                                                                                           \
        if ((call) != ONENODE_OK)                                                                  \
            failures++, fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, (library).message()); \
    } while (0)

/* Lines of a file of /proc, or those with a word. */
static int lines(const char *path, const char *word_in_it)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, word_in_it) != NULL;
    fclose(file);
    return count;
}

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* What a process has that a library could change. */
struct state {
    struct { void *handler; int flags; uint64_t mask; } actions[65];
    sigset_t mask;
    stack_t stack;
    int descriptors, threads;
    char **environment;
    char variables[1 << 16];
    mode_t umask;
};

static void look(struct state *state)
{
    size_t used = 0;
    memset(state, 0, sizeof *state);
    for (int s = 1; s < 65; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) != 0)
            continue; /* the C library's own */
        memcpy(&state->actions[s].handler, &action.sa_handler, sizeof action.sa_handler);
        memcpy(&state->actions[s].mask, &action.sa_mask, sizeof state->actions[s].mask);
        state->actions[s].flags = action.sa_flags;
    }
    sigprocmask(SIG_SETMASK, NULL, &state->mask);
    sigaltstack(NULL, &state->stack);
    state->descriptors = entries("/proc/self/fd");
    state->threads = entries("/proc/self/task");
    state->environment = environ;
    for (char **at = environ; *at != NULL && used + strlen(*at) + 1 < sizeof state->variables; at++) {
        strcpy(state->variables + used, *at);
        used += strlen(*at) + 1;
    }
    state->umask = umask(0);
    umask(state->umask);
}

static onenode_t *open_one(const struct library *library, onenode_view_t **view, onenode_table *table,
                           uint32_t rank)
{
    static const uint64_t key = 1;
    onenode_config config;
    onenode_memory memory;
    onenode_t *node = NULL;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.rank = rank;
    config.file = -1;
    config.extra = 100;
    GOOD(*library, library->open(&config, &node));
    memset(&memory, 0, sizeof memory);
    memory.size = sizeof memory;
    memory.source = ONENODE_PROGRAM;
    GOOD(*library, library->region(node, key, &memory, NULL, NULL));
    GOOD(*library, library->view_open(node, &key, 1, table, view));
    return node;
}

static ONENODE_TABLE(first, 2);
static ONENODE_TABLE(second, 2);

/* Two copies as rank 0 and rank 1 in one process: each finds the other's data segment, which is its own. */
static void both(const struct library *a, const struct library *b)
{
    onenode_view_t *in_a, *in_b;
    onenode_t *node_a = open_one(a, &in_a, &first.table, 0), *node_b = open_one(b, &in_b, &second.table, 1);
    onenode_card card_a, card_b;
    uint32_t rank_a = 0, rank_b = 1;
    long *there;

    GOOD(*a, a->get_card(node_a, &card_a));
    GOOD(*b, b->get_card(node_b, &card_b));
    GOOD(*a, a->know(node_a, &rank_b, &card_b));
    GOOD(*b, b->know(node_b, &rank_a, &card_a));
    there = (long *)a->resolve(in_a, &word, 1);
    CHECK(there != NULL && there != &word);
    if (there != NULL)
        *there += 1;
    there = (long *)b->resolve(in_b, &word, 0);
    CHECK(there != NULL && there != &word && onenode_at(&second.table, &word, 0) == there);
    if (there != NULL)
        *there += 10;
    /* A failure in one is no message of the other. */
    CHECK(a->resolve(in_a, environ, 1) == NULL && strstr(a->message(), "onenode_resolve") != NULL);
    CHECK(strcmp(b->message(), "") == 0);
    GOOD(*a, a->view_close(in_a));
    GOOD(*a, a->close(node_a));
    GOOD(*b, b->view_close(in_b));
    GOOD(*b, b->close(node_b));
}

int main(void)
{
    static struct state before, after;
    struct library a, b;
    char copy[] = "/tmp/libonenode-copy-XXXXXX", command[4096];
    int maps = 0, pipes[2], descriptors;
    char said[1 << 16];
    ssize_t length;

    /* A second file, so that the loader takes it for another library. */
    close(mkstemp(copy));
    snprintf(command, sizeof command, "cp '%s' %s", LIBRARY, copy);
    CHECK(system(command) == 0);

    /* What is printed goes into a pipe, to see that nothing is. */
    CHECK(pipe2(pipes, O_NONBLOCK) == 0);
    int streams[2] = { dup(1), dup(2) };
    look(&before);
    dup2(pipes[1], 1), dup2(pipes[1], 2);
    a = load(LIBRARY);
    b = load(copy);
    both(&a, &b);
    CHECK(word == 16);
    look(&after);
    CHECK(memcmp(before.actions, after.actions, sizeof before.actions) == 0);
    CHECK(memcmp(&before.mask, &after.mask, sizeof before.mask) == 0);
    CHECK(memcmp(&before.stack, &after.stack, sizeof before.stack) == 0);
    CHECK(before.descriptors == after.descriptors && before.threads == after.threads);
    CHECK(before.environment == after.environment && before.umask == after.umask);
    CHECK(memcmp(before.variables, after.variables, sizeof before.variables) == 0);

    /* Again and again: what there is stays as much. */
    descriptors = entries("/proc/self/fd");
    for (int i = 0; i < 1000; i++) {
        both(&a, &b);
        if (i == 10)
            maps = lines("/proc/self/maps", "");
    }
    CHECK(lines("/proc/self/maps", "") == maps);
    CHECK(entries("/proc/self/fd") == descriptors);

    /* Nothing keeps it: no handler, no thread's destructor. */
    CHECK(dlclose(a.handle) == 0 && dlclose(b.handle) == 0);
    CHECK(lines("/proc/self/maps", "libonenode") == 0);
    CHECK(word == 16 + 11 * 1000);
    unlink(copy);
    dup2(streams[0], 1), dup2(streams[1], 2);
    if ((length = read(pipes[0], said, sizeof said)) > 0)
        failures++, fprintf(stderr, "%.*s", (int)length, said);
    return failures != 0;
}
