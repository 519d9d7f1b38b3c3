//! The constants of the C headers. When this crate is compiled, those that the core also defines
//! are compared with the core's.
#![allow(dead_code, missing_docs)]

use oneshmem::Hints;
use oneshmem::internals::collectives::active_set;
use oneshmem::internals::context::{self, session as ctx_session};
use oneshmem::internals::start::setup;
use oneshmem::internals::{signal, team, wait};
use std::ffi::CStr;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));

macro_rules! same {
    ($($header:ident = $core:expr;)*) => { $(const _: () = assert!($header == $core as i64);)* };
}

same! {
    SHMEM_MAJOR_VERSION = oneshmem::info_get_version().0;
    SHMEM_MINOR_VERSION = oneshmem::info_get_version().1;
    SHMEM_MALLOC_ATOMICS_REMOTE = Hints::ATOMICS_REMOTE.bits();
    SHMEM_MALLOC_SIGNAL_REMOTE = Hints::SIGNAL_REMOTE.bits();
    SHMEM_THREAD_SINGLE = setup::THREAD_SINGLE;
    SHMEM_THREAD_FUNNELED = setup::THREAD_FUNNELED;
    SHMEM_THREAD_SERIALIZED = setup::THREAD_SERIALIZED;
    SHMEM_THREAD_MULTIPLE = setup::THREAD_MULTIPLE;
    SHMEM_TEAM_INVALID = team::TEAM_INVALID;
    SHMEM_TEAM_WORLD = team::TEAM_WORLD;
    SHMEM_TEAM_SHARED = team::TEAM_SHARED;
    SHMEM_TEAM_NUM_CONTEXTS = team::NUM_CONTEXTS;
    SHMEM_CTX_INVALID = context::CTX_INVALID;
    SHMEM_CTX_DEFAULT = context::CTX_DEFAULT;
    SHMEM_CTX_SERIALIZED = context::SERIALIZED;
    SHMEM_CTX_PRIVATE = context::PRIVATE;
    SHMEM_CTX_NOSTORE = context::NOSTORE;
    SHMEM_CTX_SESSION_TOTAL_OPS = ctx_session::TOTAL_OPS;
    SHMEM_CTX_SESSION_BATCH = ctx_session::BATCH;
    SHMEM_SIGNAL_SET = signal::SIGNAL_SET;
    SHMEM_SIGNAL_ADD = signal::SIGNAL_ADD;
    SHMEM_CMP_EQ = wait::CMP_EQ;
    SHMEM_CMP_NE = wait::CMP_NE;
    SHMEM_CMP_GT = wait::CMP_GT;
    SHMEM_CMP_LE = wait::CMP_LE;
    SHMEM_CMP_LT = wait::CMP_LT;
    SHMEM_CMP_GE = wait::CMP_GE;
    SHMEM_BARRIER_SYNC_SIZE = active_set::BARRIER_SYNC_SIZE;
    SHMEM_BCAST_SYNC_SIZE = active_set::BCAST_SYNC_SIZE;
    SHMEM_COLLECT_SYNC_SIZE = active_set::COLLECT_SYNC_SIZE;
    SHMEM_REDUCE_SYNC_SIZE = active_set::REDUCE_SYNC_SIZE;
    SHMEM_ALLTOALL_SYNC_SIZE = active_set::ALLTOALL_SYNC_SIZE;
    SHMEM_ALLTOALLS_SYNC_SIZE = active_set::ALLTOALLS_SYNC_SIZE;
    SHMEM_SYNC_SIZE = active_set::SYNC_SIZE;
    SHMEM_REDUCE_MIN_WRKDATA_SIZE = active_set::REDUCE_MIN_WRKDATA_SIZE;
}

const _: () = assert!(SHMEM_VENDOR_STRING.count_bytes() < SHMEM_MAX_NAME_LEN as usize);
