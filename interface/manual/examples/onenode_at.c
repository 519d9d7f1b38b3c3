/* Each process copies an array into the variables of the next one, with a signal. Then all add what they have got, element by element, and count in rank 0's memory, where a lock keeps the count right. */
#include <err.h>
#include <onenode.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, KEY = 1 };

static long from[2], sum[2], count;
static uint64_t signal, lock;

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
        .size = sizeof config, .rank = rank, .file = -1
    };
    check(onenode_open(&config, &node));
    onenode_memory memory = {
        .size = sizeof memory, .source = ONENODE_PROGRAM
    };
    check(onenode_region(node, KEY, &memory, NULL, NULL));
    check(onenode_meet(node, &key, sizeof key, RANKS, ONENODE_EVER));
    static ONENODE_TABLE(peers, RANKS);
    onenode_view_t *view;
    const uint64_t keys[] = { KEY };
    check(onenode_view_open(node, keys, 1, &peers.table, &view));
    onenode_group_t *group;
    const uint32_t ranks[RANKS] = { 0, 1, 2 };
    check(onenode_group_open(node, 1, ranks, RANKS, &group));

    const uint32_t right = (rank + 1) % RANKS, left = (rank + 2) % RANKS;
    const long own[2] = { 1 + rank, 10 };
    uint32_t near;
    check(onenode_attach_many(node, ranks, RANKS, ONENODE_EVER, &near));
    if (near < RANKS)
        errx(1, "only %u processes are here", near);
    long *to = onenode_at(&peers.table, from, right);
    uint64_t *there = onenode_at(&peers.table, &signal, right);
    check(onenode_copy_signal(to, own, sizeof own, there, 1, 0));
    check(onenode_wait(node, &signal, ONENODE_NE, 0, left,
                       ONENODE_EVER));

    onenode_collective sums = {
        .size = sizeof sums, .operation = ONENODE_ALLREDUCE,
        .reduction = ONENODE_SUM, .element = ONENODE_INT64,
        .dest = sum, .source = from, .bytes = sizeof from, .view = view
    };
    check(onenode_run(group, &sums, ONENODE_EVER));

    volatile long *counter = ONENODE_AT(&peers.table, view, &count, 0);
    if (counter == NULL)
        check(ONENODE_ENOTHERE);
    for (int i = 0; i < 100; i++) {
        check(onenode_lock(group, &lock, view, ONENODE_EVER));
        *counter = *counter + 1;
        check(onenode_unlock(group, &lock, view));
    }
    check(onenode_arrive(group));
    while (onenode_arrived(group) == 0)
        ; /* something else is done here */
    printf("rank %u: got %ld, sums %ld and %ld, count %ld\n", rank,
           from[0], sum[0], sum[1], *counter);
    check(onenode_barrier(group, ONENODE_EVER));
    check(onenode_group_close(group));
    check(onenode_view_close(view));
    check(onenode_close(node));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* $ ./onenode_at
 * rank 0: got 3, sums 6 and 30, count 300
 * rank 1: got 1, sums 6 and 30, count 300
 * rank 2: got 2, sums 6 and 30, count 300 */
