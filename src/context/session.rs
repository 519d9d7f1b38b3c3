//! Communication sessions (specification 1.6, section 9.9): a program's hints about its next
//! operations on a context. On one node every operation completes at once and there is nothing to
//! batch. The hints are checked and kept.

use super::{CONTEXTS, required};
use crate::argument::memory::In;
use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::failure;
use oneshmem_job::error::Routine;
use std::ffi::c_long;

/// `SHMEM_CTX_SESSION_TOTAL_OPS`, in a configuration's mask.
pub const TOTAL_OPS: c_long = 1;
/// `SHMEM_CTX_SESSION_BATCH`, an option.
pub const BATCH: c_long = 1;

/// `shmem_ctx_session_config_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// How many operations the session will have; `usize::MAX` if unknown.
    pub total_ops: usize,
}

/// The hints of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Options, combined over repeated starts.
    pub options: c_long,
    /// The configuration.
    pub config: Config,
}

/// Set in `options` during a session.
const ACTIVE: u64 = 1 << 63;

struct Hints {
    options: AtomicU64,
    total_ops: AtomicUsize,
}

static HINTS: [Hints; CONTEXTS] =
    [const { Hints { options: AtomicU64::new(0), total_ops: AtomicUsize::new(0) } }; CONTEXTS];

/// The hints for a context, if it exists.
fn hints(routine: Routine, ctx: usize) -> Option<&'static Hints> {
    required(routine, ctx).map(|number| &HINTS[number])
}

/// `shmem_ctx_session_start`. A second start adds options and replaces the fields that `mask`
/// names. Does nothing for `SHMEM_CTX_INVALID`.
pub fn start(
    routine: Routine,
    ctx: usize,
    options: c_long,
    config: Option<In<'_, Config>>,
    mask: c_long,
) {
    let Some(hints) = hints(routine, ctx) else { return };
    if options & !BATCH != 0 {
        failure::misuse(
            routine,
            format_args!("options = {options:#x}"),
            "expected 0 or SHMEM_CTX_SESSION_BATCH",
        );
    }
    if mask & !TOTAL_OPS != 0 || (mask != 0 && config.is_none()) {
        let address = config.map_or(0, |config| config.at().addr());
        failure::misuse(
            routine,
            format_args!("config = {address:#x}, config_mask = {mask:#x}"),
            "expected a mask of 0, or SHMEM_CTX_SESSION_TOTAL_OPS and a configuration",
        );
    }
    let before = hints.options.fetch_or(options as u64 | ACTIVE, Ordering::Relaxed);
    if let Some(config) = config.filter(|_| mask != 0) {
        hints.total_ops.store(config.get(0).total_ops, Ordering::Relaxed);
    } else if before & ACTIVE == 0 {
        hints.total_ops.store(usize::MAX, Ordering::Relaxed);
    }
}

/// `shmem_ctx_session_stop`. Does nothing if there is no session.
pub fn stop(routine: Routine, ctx: usize) {
    if let Some(hints) = hints(routine, ctx) {
        hints.options.store(0, Ordering::Relaxed);
    }
}

/// The current session of a context.
pub fn current(routine: Routine, ctx: usize) -> Option<Session> {
    let hints = hints(routine, ctx)?;
    let options = hints.options.load(Ordering::Relaxed);
    (options & ACTIVE != 0).then(|| Session {
        options: (options & !ACTIVE) as c_long,
        config: Config { total_ops: hints.total_ops.load(Ordering::Relaxed) },
    })
}

/// Ends the session of a number's previous context: a new context starts without one.
pub(super) fn forget(index: usize) {
    HINTS[index].options.store(0, Ordering::Relaxed);
}
