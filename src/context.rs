//! Communication contexts: what a context handle means on the data path.
//!
//! A handle is the byte offset of an entry in one static table, so that using a
//! context costs the hot path four instructions more than the default context (the
//! table's address, then a load, a multiplication and an addition for the team's
//! numbering), and a handle is an address constant in C (`SHMEM_CTX_DEFAULT` works
//! in a static initialiser). Entry 0 is `SHMEM_CTX_INVALID`: like every entry not in
//! use, a destroyed context's for example, it has no PEs, so any use takes the slow
//! path and is reported there.
//!
//! On one node every operation is complete when it returns, so contexts have no
//! operations of their own to keep apart; what they carry is their team's numbering.
#![allow(unsafe_code)]

pub mod session;

use crate::atomics::{AtomicUsize, Ordering, fence};
use crate::error::{self, Routine};
use crate::job::Job;
use crate::team::{self, Section, TEAM_INVALID, TEAM_WORLD};
use crate::translate::{Numbering, PeArg, TABLE};
use std::ffi::{c_int, c_long};

/// `SHMEM_CTX_INVALID`.
pub const CTX_INVALID: usize = 0;
/// `SHMEM_CTX_DEFAULT`: the entry after the invalid one.
pub const CTX_DEFAULT: usize = size_of::<Entry>();

/// `SHMEM_CTX_SERIALIZED`.
pub const SERIALIZED: c_long = 1;
/// `SHMEM_CTX_PRIVATE`.
pub const PRIVATE: c_long = 2;
/// `SHMEM_CTX_NOSTORE`.
pub const NOSTORE: c_long = 4;
const OPTIONS: c_long = SERIALIZED | PRIVATE | NOSTORE;

/// Contexts there can be at once, two of them predefined.
pub const ENTRIES: usize = 4096;
const _: () = assert!(size_of::<Entry>() == 32);

/// What the data path reads of a context.
#[repr(C, align(32))]
struct Entry {
    /// PEs of its team; 0 while the entry is not in use. Written last.
    size: AtomicUsize,
    /// World number of the team's PE 0.
    start: AtomicUsize,
    /// Distance between the team's PEs, in two's complement.
    stride: AtomicUsize,
    /// The team's handle and whether the entry is taken; 0 if it is free.
    owner: AtomicUsize,
}

static CONTEXTS: [Entry; ENTRIES] = [const { Entry::free() }; ENTRIES];

/// Where to look for a free entry next.
static NEXT: AtomicUsize = AtomicUsize::new(2);

impl Entry {
    const fn free() -> Self {
        Self {
            size: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            stride: AtomicUsize::new(0),
            owner: AtomicUsize::new(0),
        }
    }

    fn establish(&self, section: Section) {
        self.start.store(section.start, Ordering::Relaxed);
        self.stride.store(section.stride, Ordering::Relaxed);
        self.size.store(section.size, Ordering::Release);
    }

    fn release(&self) {
        self.size.store(0, Ordering::Relaxed);
        self.owner.store(0, Ordering::Release);
    }
}

/// The entry of a handle that is one: an entry's offset, and in use.
fn entry(handle: usize) -> Option<&'static Entry> {
    if !handle.is_multiple_of(size_of::<Entry>()) {
        return None;
    }
    let entry = CONTEXTS.get(handle / size_of::<Entry>())?;
    (entry.size.load(Ordering::Acquire) > 0).then_some(entry)
}

/// The entry of a handle, or `None` for `SHMEM_CTX_INVALID`; another handle that is
/// no context's is reported and ends the job.
fn required(routine: Routine, handle: usize) -> Option<&'static Entry> {
    if handle == CTX_INVALID {
        return None;
    }
    crate::job::job(routine);
    entry(handle).or_else(|| error::misuse(routine, format_args!("ctx = {handle:#x}"), A_CONTEXT))
}

const A_CONTEXT: &str =
    "expected a context that exists: SHMEM_CTX_DEFAULT, or one that was created and not destroyed";

/// The default context: world numbering, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Default;

impl Numbering for Default {
    #[inline(always)]
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R {
        if TABLE.knows(pe) { ok(pe) } else { out() }
    }
    #[inline(always)]
    fn handle(self) -> usize {
        CTX_DEFAULT
    }
}

/// A context by its handle, a `shmem_ctx_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(usize);

impl Handle {
    /// The context of a handle.
    ///
    /// # Safety
    /// The handle is [`CTX_INVALID`], [`CTX_DEFAULT`] or one that [`create`] or
    /// [`team_create`] gave, destroyed since or not.
    #[inline(always)]
    pub const unsafe fn new(handle: usize) -> Self {
        Self(handle)
    }
}

impl Numbering for Handle {
    #[inline(always)]
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R {
        let table: *const Entry = CONTEXTS.as_ptr();
        // SAFETY: the handle is the offset of an entry, as `new` was promised.
        let entry = unsafe { &*table.byte_add(self.0) };
        // SAFETY: an entry is written when its context is created or destroyed, and
        // the specification forbids to use a context concurrently with either. Plain
        // reads, because the compiler makes them operands of other instructions.
        let (size, start, stride) =
            unsafe { (*entry.size.as_ptr(), entry.start.as_ptr(), entry.stride.as_ptr()) };
        if pe >= size {
            return out();
        }
        // SAFETY: as above.
        ok(pe.wrapping_mul(unsafe { *stride }).wrapping_add(unsafe { *start }))
    }
    #[inline(always)]
    fn handle(self) -> usize {
        self.0
    }
}

/// The world number of PE `pe` of a context's team, if it has one.
pub fn world_pe(handle: usize, pe: c_int) -> Option<usize> {
    let pe = usize::try_from(pe).ok()?;
    let entry = entry(handle).filter(|entry| pe < entry.size.load(Ordering::Relaxed))?;
    let offset = pe.wrapping_mul(entry.stride.load(Ordering::Relaxed));
    Some(entry.start.load(Ordering::Relaxed).wrapping_add(offset))
}

/// Says what a call on this context could have been given, for messages about a PE
/// number that [`world_pe`] refused.
pub fn describe(handle: usize) -> String {
    match entry(handle) {
        Some(entry) => {
            let last = entry.size.load(Ordering::Relaxed) - 1;
            match entry.owner.load(Ordering::Relaxed) {
                TEAM_WORLD => format!("expected a PE number from 0 to {last}"),
                _ => format!(
                    "expected a PE number from 0 to {last}, as the context's team numbers its PEs"
                ),
            }
        }
        None if handle == CTX_INVALID => {
            format!("ctx is SHMEM_CTX_INVALID; it must be {A_CONTEXT}")
        }
        None => format!("ctx is {handle:#x}, which is no context; it must be {A_CONTEXT}"),
    }
}

/// `shmem_ctx_create`: a context of the world. Returns 0, or something else and
/// [`CTX_INVALID`] if there is none left.
///
/// # Safety
/// `ctx` is writable.
pub unsafe fn create(routine: Routine, options: c_long, ctx: *mut usize) -> c_int {
    // SAFETY: the caller's promise, passed on.
    unsafe { team_create(routine, TEAM_WORLD, options, ctx) }
}

/// `shmem_team_create_ctx`: a context that numbers PEs as the team does. Returns as
/// [`create`] does, and fails for `SHMEM_TEAM_INVALID`.
///
/// # Safety
/// `ctx` is writable.
pub unsafe fn team_create(
    routine: Routine,
    team: usize,
    options: c_long,
    ctx: *mut usize,
) -> c_int {
    if options & !OPTIONS != 0 {
        error::misuse(
            routine,
            format_args!("options = {options:#x}"),
            "expected 0, or a combination of SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE",
        );
    }
    let section = team::get(routine, team).map(|team| team.section());
    let handle = section.and_then(|section| take_entry(team, section));
    // SAFETY: the caller's promise.
    unsafe { ctx.write(handle.unwrap_or(CTX_INVALID)) };
    if handle.is_some() { 0 } else { -1 }
}

/// Takes a free entry for a context of `team`. Any thread may, at any time.
fn take_entry(team: usize, section: Section) -> Option<usize> {
    let first = NEXT.load(Ordering::Relaxed);
    (0..ENTRIES).map(|i| (first + i) % ENTRIES).filter(|index| *index >= 2).find_map(|index| {
        let entry = &CONTEXTS[index];
        entry.owner.compare_exchange(0, team, Ordering::Acquire, Ordering::Relaxed).ok()?;
        NEXT.store(index + 1, Ordering::Relaxed);
        session::forget(index);
        entry.establish(section);
        Some(index * size_of::<Entry>())
    })
}

/// `shmem_ctx_destroy`, with an implicit quiet; nothing for `SHMEM_CTX_INVALID`.
pub fn destroy(routine: Routine, handle: usize) {
    let Some(entry) = required(routine, handle) else { return };
    if handle == CTX_DEFAULT {
        error::misuse(
            routine,
            "ctx = SHMEM_CTX_DEFAULT",
            "expected a context that was created; the default context exists as long as the library",
        );
    }
    fence(Ordering::SeqCst);
    entry.release();
}

/// `shmem_ctx_get_team`: the handle of a context's team; `SHMEM_TEAM_INVALID` and
/// something other than 0 for `SHMEM_CTX_INVALID`.
///
/// # Safety
/// `team` is writable.
pub unsafe fn get_team(routine: Routine, handle: usize, team: *mut usize) -> c_int {
    let owner = required(routine, handle).map(|entry| entry.owner.load(Ordering::Relaxed));
    // SAFETY: the caller's promise.
    unsafe { team.write(owner.unwrap_or(TEAM_INVALID)) };
    if owner.is_some() { 0 } else { -1 }
}

/// Checks a handle that a quiet or fence is called on: false for `SHMEM_CTX_INVALID`,
/// on which these do nothing.
#[inline]
pub fn is_valid(routine: Routine, handle: usize) -> bool {
    required(routine, handle).is_some()
}

/// Destroys a team's contexts, with the team.
pub(crate) fn destroy_all_of(team: usize) {
    for entry in &CONTEXTS[2..] {
        if entry.owner.load(Ordering::Acquire) == team {
            entry.release();
        }
    }
}

/// Makes the default context, at initialisation.
pub(crate) fn open(job: &Job) {
    let default = &CONTEXTS[CTX_DEFAULT / size_of::<Entry>()];
    default.owner.store(TEAM_WORLD, Ordering::Relaxed);
    default.establish(Section { start: 0, stride: 1, size: job.npes(), me: job.pe() });
}

/// Destroys all contexts, at finalisation.
pub(crate) fn close() {
    for entry in &CONTEXTS {
        entry.release();
    }
}
