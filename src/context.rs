//! Communication contexts: what a context handle means on the data path.
//!
//! A handle holds a context's number (see [`numberings`]). So a context costs the hot path only
//! four instructions more than the default context (the handle's low half, then a load, a
//! multiplication and an addition for the team's numbering), and a handle is an address constant in
//! C (`SHMEM_CTX_DEFAULT` works in a static initialiser). A handle that is not a context's
//! (`SHMEM_CTX_INVALID`, a destroyed context's or a stray pointer) has no PEs, so any use takes the
//! slow path, which reports it.
//!
//! On one node every operation is complete when it returns, so contexts have no operations of their
//! own to keep apart. They only carry their team's numbering.

pub mod session;

use crate::argument::{self, memory::Out};
use crate::atomics::{AtomicU64, AtomicUsize, Ordering, fence};
use crate::failure;
use crate::pe::Job;
use crate::team::{self, TEAM_INVALID, TEAM_WORLD, Triplet};
use crate::translate::numberings::{self, CONTEXTS};
pub use crate::translate::{CTX_DEFAULT, Default};
use crate::translate::{Numbering, PeArg, TABLE, sealed};
use oneshmem_job::error::Routine;
use std::ffi::{c_int, c_long};

/// `SHMEM_CTX_INVALID`.
pub const CTX_INVALID: usize = 0;
/// The number of the default context.
const DEFAULT: usize = 1;

/// `SHMEM_CTX_SERIALIZED`.
pub const SERIALIZED: c_long = 1;
/// `SHMEM_CTX_PRIVATE`.
pub const PRIVATE: c_long = 2;
/// `SHMEM_CTX_NOSTORE`.
pub const NOSTORE: c_long = 4;
const OPTIONS: c_long = SERIALIZED | PRIVATE | NOSTORE;

/// The handle of each context's team; 0 while the context does not exist.
static OWNERS: [AtomicUsize; CONTEXTS] = [const { AtomicUsize::new(0) }; CONTEXTS];

/// Which of all contexts that were ever created each is; 0 while it does not exist.
static CREATED: [AtomicU64; CONTEXTS] = [const { AtomicU64::new(0) }; CONTEXTS];

/// How many contexts were ever created.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The number at which the next search for a free one starts.
static NEXT: AtomicUsize = AtomicUsize::new(DEFAULT + 1);

fn establish(number: usize, triplet: Triplet) {
    TABLE.contexts.set(number, triplet.start, triplet.stride, triplet.size);
}

fn release(number: usize) {
    TABLE.contexts.clear(number);
    CREATED[number].store(0, Ordering::Relaxed);
    OWNERS[number].store(0, Ordering::Release);
}

/// The number of a context, if it exists.
fn existing(handle: usize) -> Option<usize> {
    numberings::number(handle).filter(|number| TABLE.contexts.size(*number) > 0)
}

/// The number of a context; `None` for `SHMEM_CTX_INVALID`. Any other handle that is not a
/// context's is reported and ends the job.
fn required(routine: Routine, handle: usize) -> Option<usize> {
    if handle == CTX_INVALID {
        return None;
    }
    crate::call::job(routine);
    existing(handle)
        .or_else(|| failure::misuse(routine, format_args!("ctx = {handle:#x}"), A_CONTEXT))
}

const A_CONTEXT: &str =
    "expected a context that exists: SHMEM_CTX_DEFAULT, or one that was created and not destroyed";

/// A context by its handle, a `shmem_ctx_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(usize);

impl Handle {
    /// The context of a handle. An invalid handle is reported when it is used.
    #[inline(always)]
    pub const fn new(handle: usize) -> Self {
        Self(handle)
    }
}

impl sealed::Sealed for Handle {}

impl Numbering for Handle {
    #[inline(always)]
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R {
        TABLE.contexts.world(self.0, pe, ok, out)
    }
    #[inline(always)]
    fn handle(self) -> usize {
        self.0
    }
}

/// The world number of PE `pe` of a context's team; `None` if the team has no such PE.
pub fn world_pe(handle: usize, pe: c_int) -> Option<usize> {
    let pe = usize::try_from(pe).ok()?;
    let number = existing(handle).filter(|number| pe < TABLE.contexts.size(*number))?;
    Some(TABLE.contexts.member(number, pe))
}

/// Reports what is wrong with a PE number that [`world_pe`] refused: the number or the context.
pub fn no_pe(routine: Routine, handle: usize, pe: c_int) -> ! {
    let Some(number) = required(routine, handle) else {
        failure::misuse(routine, "ctx = SHMEM_CTX_INVALID", A_CONTEXT)
    };
    let last = TABLE.contexts.size(number) - 1;
    let numbering = match OWNERS[number].load(Ordering::Relaxed) {
        TEAM_WORLD => "",
        _ => ", as the context's team numbers its PEs",
    };
    failure::misuse(
        routine,
        format_args!("pe = {pe}"),
        format_args!("expected a PE number from 0 to {last}{numbering}"),
    )
}

/// `shmem_ctx_create`: creates a context of the world. Returns 0, or another value and
/// [`CTX_INVALID`] if none is left.
pub fn create(routine: Routine, options: c_long, ctx: Option<Out<'_, usize>>) -> c_int {
    team_create(routine, TEAM_WORLD, options, ctx)
}

/// `shmem_team_create_ctx`: creates a context that numbers PEs as the team does. Returns as
/// [`create`] does, and fails for `SHMEM_TEAM_INVALID`.
pub fn team_create(
    routine: Routine,
    team: usize,
    options: c_long,
    ctx: Option<Out<'_, usize>>,
) -> c_int {
    if options & !OPTIONS != 0 {
        failure::misuse(
            routine,
            format_args!("options = {options:#x}"),
            "expected 0, or a combination of SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE",
        );
    }
    let ctx = argument::required(routine, "ctx", ctx);
    let triplet = team::get(routine, team).map(|team| team.triplet());
    let handle = triplet.and_then(|triplet| take_number(team, triplet));
    ctx.set(0, handle.unwrap_or(CTX_INVALID));
    if handle.is_some() { 0 } else { -1 }
}

/// Takes a free number for a context of `team`. Any thread may call this at any time.
fn take_number(team: usize, triplet: Triplet) -> Option<usize> {
    let first = NEXT.load(Ordering::Relaxed);
    let numbers = (0..CONTEXTS).map(|i| (first + i) % CONTEXTS);
    numbers.filter(|number| *number > DEFAULT).find_map(|number| {
        let owner = &OWNERS[number];
        owner.compare_exchange(0, team, Ordering::Acquire, Ordering::Relaxed).ok()?;
        NEXT.store(number + 1, Ordering::Relaxed);
        session::forget(number);
        CREATED[number].store(COUNT.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        establish(number, triplet);
        Some(numberings::handle(number))
    })
}

/// `shmem_ctx_destroy`, with an implicit quiet. Does nothing for `SHMEM_CTX_INVALID`.
pub fn destroy(routine: Routine, handle: usize) {
    let Some(number) = required(routine, handle) else { return };
    if handle == CTX_DEFAULT {
        failure::misuse(
            routine,
            "ctx = SHMEM_CTX_DEFAULT",
            "expected a context that was created; the default context exists as long as the library",
        );
    }
    fence(Ordering::SeqCst);
    crate::call::job(routine).complete();
    release(number);
}

/// A context that was created, among all that ever were: its handle may be another's later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    handle: usize,
    count: u64,
}

/// The creation of the context of a handle, which exists.
pub fn creation(handle: usize) -> Creation {
    let count = existing(handle).map_or(0, |number| CREATED[number].load(Ordering::Relaxed));
    Creation { handle, count }
}

/// As [`destroy`], if the context still exists: its team may have been destroyed, or the lifetime may
/// be over. Does nothing in a forked child.
pub fn destroy_if_there(routine: Routine, created: Creation) {
    if !crate::pe::is_child() && creation(created.handle) == created && created.count != 0 {
        destroy(routine, created.handle);
    }
}

/// `shmem_ctx_get_team`: the handle of a context's team. For `SHMEM_CTX_INVALID`, it is
/// `SHMEM_TEAM_INVALID`, and the result is not 0.
pub fn get_team(routine: Routine, handle: usize, team: Option<Out<'_, usize>>) -> c_int {
    let team = argument::required(routine, "team", team);
    let owner = required(routine, handle).map(|number| OWNERS[number].load(Ordering::Relaxed));
    team.set(0, owner.unwrap_or(TEAM_INVALID));
    if owner.is_some() { 0 } else { -1 }
}

/// Checks the context of a quiet or fence. False for `SHMEM_CTX_INVALID`, on which they do nothing.
#[inline(always)]
pub fn exists<C: Numbering>(routine: Routine, ctx: C) -> bool {
    let handle = ctx.handle();
    handle == CTX_DEFAULT || TABLE.contexts.has(handle) || is_some(routine, handle)
}

#[cold]
#[inline(never)]
fn is_some(routine: Routine, handle: usize) -> bool {
    required(routine, handle).is_some()
}

/// Destroys a team's contexts, together with the team.
pub(crate) fn destroy_all_of(team: usize) {
    for (number, owner) in OWNERS.iter().enumerate().skip(DEFAULT + 1) {
        if owner.load(Ordering::Acquire) == team {
            release(number);
        }
    }
}

/// Creates the default context, at initialisation.
pub(crate) fn open(job: &Job) {
    OWNERS[DEFAULT].store(TEAM_WORLD, Ordering::Relaxed);
    establish(DEFAULT, Triplet { start: 0, stride: 1, size: job.npes(), me: job.pe() });
}

/// Destroys all contexts, at finalisation.
pub(crate) fn close() {
    (DEFAULT..CONTEXTS).for_each(release);
}
