// Random access: each PE exclusive-ors random numbers into words of all PEs' tables, which are on their devices.
// The size is the words of a table. The extended form does so by atomic operations or, if the third argument is
// get-put, by a get and a put, which may lose an update when two PEs meet at a word: one in a hundred is allowed.
#include "app.h"
#include "work.h"

#include <sched.h>

static const int MOST = 64;

// What the standard form has instead of reaching the other device: a mailbox for each PE that may send.
struct Mail {
    uint64_t at, value;
};
static Mail mail[MOST];
static uint64_t sent[MOST], served[MOST], finished[MOST];

// Applies what other PEs have sent; if nothing has come, another process may run.
static void serve(uint64_t *table, int npes)
{
    static uint64_t done[MOST];
    bool idle = true;
    for (int pe = 0; pe < npes; pe++) {
        if (shmem_uint64_atomic_fetch(&sent[pe], shmem_my_pe()) == done[pe])
            continue;
        idle = false;
        uint64_t at = mail[pe].at;
        #pragma omp target update from(table[at:1])
        table[at] ^= mail[pe].value;
        #pragma omp target update to(table[at:1])
        done[pe]++;
        shmem_uint64_atomic_set(&served[shmem_my_pe()], done[pe], pe);
    }
    if (idle)
        sched_yield();
}

int main(int argc, char **argv)
{
    App app("random access", argc, argv, 1 << 14);
    const int me = app.me, npes = app.npes;
    const bool get_put = app.extended && argc > 3 && strcmp(argv[3], "get-put") == 0;
    if (npes > MOST)
        app.fail("at most 64 PEs");
    const uint64_t words = app.size;
    const long updates = 4 * app.size;
    auto table = app.array<uint64_t>(words);
    #pragma omp target data map(tofrom: table[0:words])
    {
        app.begin();
        uint64_t random = me * 77 + 1;
        for (long i = 0; i < updates; i++) {
            random = next(random);
            int pe = (random >> 40) % npes;
            uint64_t at = (random >> 20) % words;
            if (app.extended) {
                #pragma omp target data use_device_ptr(table)
                if (get_put)
                    shmem_uint64_p(&table[at], shmem_uint64_g(&table[at], pe) ^ random, pe);
                else
                    shmem_uint64_atomic_xor(&table[at], random, pe);
                continue;
            }
            static uint64_t count[MOST];
            static Mail letter;
            while (shmem_uint64_atomic_fetch(&served[pe], me) != count[pe])
                serve(table, npes);
            letter = {at, random};
            shmem_putmem_signal(&mail[me], &letter, sizeof letter, &sent[me], ++count[pe],
                                SHMEM_SIGNAL_SET, pe);
        }
        if (!app.extended) {
            // The letters of a PE arrive in order, so whoever says that it has finished has sent all.
            for (int pe = 0; pe < npes; pe++) {
                shmem_fence();
                shmem_uint64_atomic_set(&finished[me], 1, pe);
            }
            int left = 1;
            while (left != 0) {
                left = 0;
                for (int pe = 0; pe < npes; pe++)
                    left += shmem_uint64_atomic_fetch(&finished[pe], me) == 0;
                serve(table, npes);
            }
        }
        app.end();
    }
    long wrong = lost_updates(table, words, updates, me, npes);
    if (get_put && wrong <= updates / 100)
        wrong = 0;
    shmem_barrier_all();
    app.release(table);
    return app.report(double(updates) * npes, "updates", wrong);
}
