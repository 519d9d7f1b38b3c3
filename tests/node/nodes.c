/* Two nodes in each process, for two clients that know nothing of each other: both adopt the data
 * segment and the same heap, have other ranks and other keys, and one goes on when the other is closed. */
#include "job.h"

enum { HEAP_BYTES = 1 << 20 };

static long word;

/* The second client numbers from the end. */
static uint32_t backwards(int r)
{
    return (uint32_t)(ranks - 1 - r);
}

static void body(void)
{
    static ONENODE_TABLE(first, 16);
    static ONENODE_TABLE(second, 16);
    uint64_t first_keys[] = { 1, 2 }, second_keys[] = { 2, 1 };
    onenode_t *a = opened(plainly(me)), *b;
    onenode_view_t *in_a, *in_b;
    long *heap = (long *)mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long *last = heap + HEAP_BYTES / 8 - 1;

    word = 10 + me;
    *last = 20 + me;
    region(a, 1, ONENODE_PROGRAM, NULL, 0);
    region(a, 2, ONENODE_ADOPT, heap, HEAP_BYTES);
    b = opened(backwards(me));
    region(b, 2, ONENODE_PROGRAM, NULL, 0);
    region(b, 1, ONENODE_ADOPT, heap, HEAP_BYTES);
    CHECK(word == 10 + me && *last == 20 + me);
    introduce(a, plainly);
    introduce(b, backwards);
    for (int i = 0; i < 2; i++) {
        WORKS(onenode_view_open(a, &first_keys[i], 1, i == 0 ? &first.table : table_for(16), &in_a));
        WORKS(onenode_view_open(b, &second_keys[i], 1, i == 0 ? &second.table : table_for(16), &in_b));
        for (int r = 0; r < ranks; r++) {
            long *own = i == 0 ? &word : last, value = (i == 0 ? 10 : 20) + r;
            long *by_a = (long *)onenode_resolve(in_a, own, plainly(r));
            long *by_b = (long *)onenode_resolve(in_b, own, backwards(r));
            CHECK(by_a != NULL && *by_a == value && by_b != NULL && *by_b == value);
            CHECK(r == me || by_a != by_b);
        }
        if (i == 0)
            continue;
        WORKS(onenode_view_close(in_a));
        WORKS(onenode_view_close(in_b));
    }
    meet();
    /* One table is empty now, and the other works. */
    WORKS(onenode_close(a));
    meet();
    CHECK(onenode_state(b, backwards(!me)) >= ONENODE_HERE || ranks == 1);
    for (int r = 0; r < ranks; r++) {
        long *there = (long *)onenode_at(&second.table, &word, backwards(r));
        CHECK(there != NULL && *there >= 10 + r);
        if (there != NULL)
            __atomic_fetch_add(there, 100, __ATOMIC_SEQ_CST);
    }
    meet();
    CHECK(word == 10 + me + 100 * ranks);
    meet();
    WORKS(onenode_close(b));
    CHECK(word == 10 + me + 100 * ranks && *last == 20 + me);
}

int main(void)
{
    run(1, 0, body);
    run(2, 0, body);
    run(4, 0, body);
    return failures != 0;
}
