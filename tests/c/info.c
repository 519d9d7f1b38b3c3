// pes: 1 2
/* rule 1.15: versions and names; the constants' relations. */
#include "check.h"

/* Constants as array lengths, initialisers and case labels. */
static long psync[SHMEM_SYNC_SIZE > 0 ? SHMEM_SYNC_SIZE : -1];
static const long sync_value = SHMEM_SYNC_VALUE;
static const long old_sync_value = _SHMEM_SYNC_VALUE;

static int comparison(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return 1;
    case SHMEM_CMP_NE: return 2;
    case SHMEM_CMP_GT: return 3;
    case SHMEM_CMP_GE: return 4;
    case SHMEM_CMP_LT: return 5;
    case SHMEM_CMP_LE: return 6;
    }
    return 0;
}

int main(void)
{
    shmem_init();
    int major = -1, minor = -1;
    static char name[SHMEM_MAX_NAME_LEN + 1];
    memset(name, 'x', sizeof name);
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK_EQ(major, SHMEM_MAJOR_VERSION);
    CHECK_EQ(minor, SHMEM_MINOR_VERSION);
    CHECK_EQ(major, 1);
    CHECK_EQ(minor, 6);
    CHECK(memchr(name, 0, SHMEM_MAX_NAME_LEN) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    CHECK_EQ(name[SHMEM_MAX_NAME_LEN], 'x');
    CHECK_EQ(comparison(SHMEM_CMP_LE), 6);
    CHECK_EQ(comparison(SHMEM_CMP_EQ), 1);
    CHECK(sync_value == old_sync_value && sizeof psync > 0);
    const long flags[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            CHECK((flags[i] & flags[j]) == 0 && flags[i] != 0);
    CHECK(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE);
    shmem_pcontrol(0); /* rule 14.4 */
    shmem_pcontrol(1, "anything", 2.0);
    shmem_pcontrol(-5);
    shmem_finalize();
    return 0;
}
