/* The parts of a window over several nodes that are mapped here, though MPI does not tell where.
 *
 * MPI allocates such a window for the ranks of a node together, in a shared file that each of them maps as a whole. A rank tells the
 * others of its node where in which file its part lies, by /proc/self/maps, and they look for that place among their own mappings. Files
 * of one kernel may bear the same numbers, as those of two IPC namespaces do, so each rank writes a word into its part that the
 * others have to find there. */
#include "onenode_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* A shared mapping that can be written. */
typedef struct { uintptr_t start, end; unsigned long long offset, major, minor, inode; } mapping;

/* The next one; false: there is none. */
static bool next_mapping(FILE *maps, char **line, size_t *room, mapping *m)
{
    while (getline(line, room, maps) > 0) {
        char mode[5];
        unsigned long long start, end;
        if (sscanf(*line, "%llx-%llx %4s %llx %llx:%llx %llu", &start, &end, mode, &m->offset, &m->major, &m->minor, &m->inode) == 7
            && mode[0] == 'r' && mode[1] == 'w' && mode[3] == 's') {
            m->start = (uintptr_t)start, m->end = (uintptr_t)end;
            return true;
        }
    }
    return false;
}

void tell_spot(char *base, spot *own)
{
    FILE *maps = own->size >= sizeof own->word ? fopen("/proc/self/maps", "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    uintptr_t at = (uintptr_t)base;
    for (mapping m; maps != NULL && next_mapping(maps, &line, &room, &m);)
        if (at >= m.start && at < m.end && own->size <= m.end - at) {
            own->major = m.major, own->minor = m.minor, own->inode = m.inode, own->offset = m.offset + (at - m.start);
            memcpy(&own->kept, base, sizeof own->kept);
            own->told = getrandom(&own->word, sizeof own->word, GRND_NONBLOCK) == sizeof own->word;
            if (own->told)
                memcpy(base, &own->word, sizeof own->word);
            break;
        }
    free(line);
    if (maps != NULL)
        fclose(maps);
}

void find_spots(const spot *spots, int n, char **found)
{
    memset(found, 0, sizeof *found * (size_t)n);
    FILE *maps = fopen("/proc/self/maps", "r");
    char *line = NULL;
    size_t room = 0;
    for (mapping m; maps != NULL && next_mapping(maps, &line, &room, &m);)
        for (int i = 0; i < n; i++) {
            const spot *s = &spots[i];
            if (!s->told || s->major != m.major || s->minor != m.minor || s->inode != m.inode || s->offset < m.offset)
                continue;
            unsigned long long in = s->offset - m.offset, bytes = m.end - m.start;
            char *there = (char *)m.start + in;
            if (in < bytes && s->size <= bytes - in && memcmp(there, &s->word, sizeof s->word) == 0)
                found[i] = there;
        }
    free(line);
    if (maps != NULL)
        fclose(maps);
}
