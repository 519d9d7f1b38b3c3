/* The constants where the language is choosiest: static initialisers, array sizes,
 * case labels. Compiled as C and as C++. */
#include "everything.h"

shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};
shmem_team_config_t team_config = {3};
shmem_ctx_session_config_t session_config = {SIZE_MAX};

long sync_any[SHMEM_SYNC_SIZE];
long sync_bcast[SHMEM_BCAST_SYNC_SIZE], old_bcast[_SHMEM_BCAST_SYNC_SIZE];
long sync_reduce[SHMEM_REDUCE_SYNC_SIZE], old_reduce[_SHMEM_REDUCE_SYNC_SIZE];
long sync_barrier[SHMEM_BARRIER_SYNC_SIZE], old_barrier[_SHMEM_BARRIER_SYNC_SIZE];
long sync_collect[SHMEM_COLLECT_SYNC_SIZE], old_collect[_SHMEM_COLLECT_SYNC_SIZE];
long sync_alltoall[SHMEM_ALLTOALL_SYNC_SIZE], sync_alltoalls[SHMEM_ALLTOALLS_SYNC_SIZE];
int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], old_work[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];

int compare(int cmp);
int compare(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return 1;
    case SHMEM_CMP_NE: return 2;
    case SHMEM_CMP_GT: return 3;
    case SHMEM_CMP_LE: return 4;
    case SHMEM_CMP_LT: return 5;
    case SHMEM_CMP_GE: return 6;
    default: return 0;
    }
}

#if defined(__cplusplus) && __cplusplus >= 201103L
#define ASSERT(condition) static_assert(condition, #condition)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ASSERT(condition) _Static_assert(condition, #condition)
#else
#define ASSERT(condition) struct assertion { int holds[(condition) ? 1 : -1]; }
#endif
#define SINGLE_BIT(value) ((value) > 0 && ((value) & ((value) - 1)) == 0 && sizeof(value) == sizeof(long))
#define HOLDS (                                                                           \
    SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6 &&                               \
    _SHMEM_MAJOR_VERSION == 1 && _SHMEM_MINOR_VERSION == 6 &&                             \
    sizeof(SHMEM_VENDOR_STRING) <= SHMEM_MAX_NAME_LEN &&                                  \
    sizeof(_SHMEM_VENDOR_STRING) <= _SHMEM_MAX_NAME_LEN &&                                \
    SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED &&                                        \
    SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&                                    \
    SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE &&                                    \
    SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD &&                                               \
    SINGLE_BIT(SHMEM_TEAM_NUM_CONTEXTS) &&                                                \
    SINGLE_BIT(SHMEM_CTX_SERIALIZED) && SINGLE_BIT(SHMEM_CTX_PRIVATE) &&                  \
    SINGLE_BIT(SHMEM_CTX_NOSTORE) &&                                                      \
    (SHMEM_CTX_SERIALIZED ^ SHMEM_CTX_PRIVATE ^ SHMEM_CTX_NOSTORE) ==                     \
        (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE) &&                 \
    SINGLE_BIT(SHMEM_CTX_SESSION_TOTAL_OPS) && SINGLE_BIT(SHMEM_CTX_SESSION_BATCH) &&     \
    SINGLE_BIT(SHMEM_MALLOC_ATOMICS_REMOTE) && SINGLE_BIT(SHMEM_MALLOC_SIGNAL_REMOTE) &&  \
    sizeof(SHMEM_SYNC_VALUE) == sizeof(long) && SHMEM_SYNC_VALUE == _SHMEM_SYNC_VALUE &&  \
    SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE && \
    SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE && \
    SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE && \
    _SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_CMP_NE == SHMEM_CMP_NE &&                     \
    _SHMEM_CMP_GT == SHMEM_CMP_GT && _SHMEM_CMP_LE == SHMEM_CMP_LE &&                     \
    _SHMEM_CMP_LT == SHMEM_CMP_LT && _SHMEM_CMP_GE == SHMEM_CMP_GE)
ASSERT(HOLDS);
