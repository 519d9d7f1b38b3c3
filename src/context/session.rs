//! Communication sessions (specification 1.6, section 9.5.8): a program's hints
//! about what it will do on a context next. On one node every operation is complete
//! at once and there is nothing to batch; the hints are checked and kept.
#![allow(unsafe_code)]

use super::{CONTEXTS, required};
use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::error::Routine;
use crate::failure;
use std::ffi::c_long;

/// `SHMEM_CTX_SESSION_TOTAL_OPS`, in a configuration's mask.
pub const TOTAL_OPS: c_long = 1;
/// `SHMEM_CTX_SESSION_BATCH`, an option.
pub const BATCH: c_long = 1;

/// `shmem_ctx_session_config_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// How many operations the session will have; `usize::MAX` if that is not known.
    pub total_ops: usize,
}

/// The hints of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Options, those of repeated starts together.
    pub options: c_long,
    /// What was configured.
    pub config: Config,
}

/// Set in `options` while there is a session.
const ACTIVE: u64 = 1 << 63;

struct Hints {
    options: AtomicU64,
    total_ops: AtomicUsize,
}

static HINTS: [Hints; CONTEXTS] =
    [const { Hints { options: AtomicU64::new(0), total_ops: AtomicUsize::new(0) } }; CONTEXTS];

/// The hints and whether the context exists.
fn hints(routine: Routine, ctx: usize) -> Option<&'static Hints> {
    required(routine, ctx).map(|number| &HINTS[number])
}

/// `shmem_ctx_session_start`. A second start adds options and replaces what `mask`
/// names; nothing happens for `SHMEM_CTX_INVALID`.
///
/// # Safety
/// `config` is readable unless `mask` is 0.
pub unsafe fn start(
    routine: Routine,
    ctx: usize,
    options: c_long,
    config: *const Config,
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
    if mask & !TOTAL_OPS != 0 || (mask != 0 && config.is_null()) {
        failure::misuse(
            routine,
            format_args!("config = {config:p}, config_mask = {mask:#x}"),
            "expected a mask of 0, or SHMEM_CTX_SESSION_TOTAL_OPS and a configuration",
        );
    }
    let before = hints.options.fetch_or(options as u64 | ACTIVE, Ordering::Relaxed);
    if mask != 0 {
        // SAFETY: not null, so readable by the caller's promise.
        let config = unsafe { config.read() };
        hints.total_ops.store(config.total_ops, Ordering::Relaxed);
    } else if before & ACTIVE == 0 {
        hints.total_ops.store(usize::MAX, Ordering::Relaxed);
    }
}

/// `shmem_ctx_session_stop`; nothing happens if there is no session.
pub fn stop(routine: Routine, ctx: usize) {
    if let Some(hints) = hints(routine, ctx) {
        hints.options.store(0, Ordering::Relaxed);
    }
}

/// The session that a context is in.
pub fn current(routine: Routine, ctx: usize) -> Option<Session> {
    let hints = hints(routine, ctx)?;
    let options = hints.options.load(Ordering::Relaxed);
    (options & ACTIVE != 0).then(|| Session {
        options: (options & !ACTIVE) as c_long,
        config: Config { total_ops: hints.total_ops.load(Ordering::Relaxed) },
    })
}

/// A new context starts without one.
pub(super) fn forget(index: usize) {
    HINTS[index].options.store(0, Ordering::Relaxed);
}
