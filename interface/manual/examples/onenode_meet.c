/* Three processes meet by a key, the number of the first of them. Then each sends a number through the runtime's own bytes of the next one. No region is needed. */
#include <err.h>
#include <onenode.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3 };

static void check(int result)
{
    if (result < 0)
        errx(1, "%s", onenode_message());
}

int main(void)
{
    const pid_t key = getpid();
    uint32_t rank = 0;
    while (rank + 1 < RANKS && fork() == 0)
        rank++;

    onenode_t *node;
    onenode_config config = {
        .size = sizeof config, .rank = rank, .file = -1,
        .extra = sizeof(uint64_t)
    };
    check(onenode_open(&config, &node));
    if (onenode_abi() != ONENODE_ABI)
        fprintf(stderr, "the library is not the header's\n");
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));

    uint64_t *theirs = onenode_extra(node, (rank + 1) % RANKS);
    uint64_t *own = onenode_extra(node, rank);
    if (theirs == NULL || own == NULL)
        check(ONENODE_ENOTHERE);
    __atomic_store_n(theirs, 40 + rank, __ATOMIC_RELEASE);
    const uint64_t limit = 10000000000; /* nanoseconds */
    const uint32_t from = (rank + RANKS - 1) % RANKS;
    check(onenode_wait(node, own, ONENODE_NE, 0, from, limit));

    char text[1000];
    onenode_describe(node, text, sizeof text);
    printf("%.6s has got %d\n", text, (int)*own);
    while (wait(NULL) > 0)
        ;
    check(onenode_close(node));
    return 0;
}

/* $ ./onenode_meet
 * rank 0 has got 42
 * rank 1 has got 40
 * rank 2 has got 41 */
