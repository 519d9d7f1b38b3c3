// pes: 2 3 4 7
/* Fence orders puts, atomics and stores to one PE; quiet completes them for all. */
#include "check.h"

enum { ROUNDS = 1500 };
static int me, npes, rounds;
static shmem_ctx_t ctx;

/* rule 12.1, rule 6.3, rule 12.4: data by each kind of operation, then the flag behind a fence */
static void fence(void)
{
    static long data[4], flag, back;
    long *mirror = shmem_ptr(data, (me + 1) % npes);
    shmem_barrier_all();
    if (me == 0) {
        for (long r = 1; r <= rounds; r++) {
            static long out;
            out = r;
            shmem_long_p(&data[0], r, 1);
            shmem_long_put_nbi(&data[1], &out, 1, 1);
            shmem_long_atomic_inc(&data[2], 1);
            if (mirror)
                ((volatile long *)mirror)[3] = r; /* a store, as shmem_ptr allows */
            else
                shmem_long_p(&data[3], r, 1);
            shmem_fence();
            shmem_long_atomic_set(&flag, r, 1);
            shmem_quiet(); /* out is free again */
            shmem_long_wait_until(&back, SHMEM_CMP_EQ, r);
        }
    } else if (me == 1) {
        for (long r = 1; r <= rounds; r++) {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, r);
            for (int i = 0; i < 4; i++)
                CHECK_EQ(((volatile long *)data)[i], r);
            shmem_long_atomic_set(&back, r, 0);
        }
    }
    shmem_barrier_all();
}

/* rule 12.2: store buffering: of two PEs that each put, quiet and look, at least
 * one sees the other's put. Without a full barrier in quiet both can miss. */
static void quiet(int form)
{
    static long mine[ROUNDS], theirs[ROUNDS];
    static long saw[ROUNDS];
    memset(mine, 0, sizeof mine);
    shmem_barrier_all();
    if (me < 2) {
        int other = 1 - me;
        for (int r = 0; r < rounds; r++) {
            shmem_long_p(&mine[r], 1, other);
            switch (form) {
            case 0: shmem_quiet(); break;
            case 1: shmem_ctx_quiet(SHMEM_CTX_DEFAULT); break;
            case 2: shmem_pe_quiet(&other, 1); break; /* rule 12.3 */
            case 3: shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, &other, 1); break;
            }
            saw[r] = *(volatile long *)&mine[r];
        }
        shmem_long_put(theirs, saw, (size_t)rounds, other);
    }
    shmem_barrier_all();
    for (int r = 0; me < 2 && r < rounds; r++)
        CHECK(saw[r] || theirs[r]);
    shmem_barrier_all();
}

/* rule 12.2: fetched values and gets are there after quiet; rule 5.8, rule 12.5: on their context */
static void completes(void)
{
    static long words[8];
    long fetched[4], got[8];
    for (int i = 0; i < 8; i++)
        words[i] = me * 10 + i;
    shmem_barrier_all();
    int to = (me + 1) % npes;
    shmem_ctx_long_get_nbi(ctx, got, words, 8, to);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched[0], &words[1], to);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(got[i], to * 10 + i);
    CHECK_EQ(fetched[0], to * 10 + 1);
    shmem_barrier_all();
    shmem_long_atomic_fetch_add_nbi(&fetched[1], &words[2], 5, to);
    shmem_pe_quiet(&to, 1);
    CHECK_EQ(fetched[1], to * 10 + 2);
    CHECK_EQ(shmem_long_g(&words[2], to), to * 10 + 7);
    int all[MAX_PES];
    for (int pe = 0; pe < npes; pe++)
        all[pe] = pe;
    shmem_pe_quiet(all, (size_t)npes);
    shmem_pe_quiet(NULL, 0); /* rule 12.3 */
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_ctx_fence(ctx);
    /* rule 5.6: nothing to do */
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &to, 1);
    shmem_barrier_all();
}

/* rule 12.2: what is quiet is visible to all: PE 0 writes, tells PE 1, which tells PE 2 */
static void transitive(void)
{
    static long data, flag;
    if (npes < 3)
        return;
    shmem_barrier_all();
    for (long r = 1; r <= 500; r++) {
        if (me == 0) {
            shmem_long_p(&data, r, 2);
            shmem_quiet();
            shmem_long_atomic_set(&flag, r, 1);
        } else if (me == 1) {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, r);
            shmem_long_atomic_set(&flag, r, 2);
        } else if (me == 2) {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, r);
            CHECK_EQ(*(volatile long *)&data, r);
        }
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    rounds = check_rounds(ROUNDS);
    if (shmem_ctx_create(0, &ctx) != 0)
        ctx = SHMEM_CTX_DEFAULT;
    fence();
    for (int form = 0; form < 4; form++)
        quiet(form);
    completes();
    transitive();
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
