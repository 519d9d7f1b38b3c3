//! Blocks that are checked under `SHMEM_DEBUG`, recorded in a timeline or by call.
#![allow(unsafe_code)]

use super::sites;
use crate::atomics::{AtomicBool, Ordering};
use crate::failure;
use crate::memory::guards;
use crate::memory::heap::GRANULE;
use crate::memory::space::Space;
use crate::message;
use crate::pe::Job;
use crate::timeline::recorder;
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::timeline::event::Kind;
use std::fmt;
use std::sync::OnceLock;

/// Whether blocks are checked, under `SHMEM_DEBUG`, or recorded in a timeline or by call.
#[inline]
pub(super) fn is_watched() -> bool {
    static WATCHED: OnceLock<bool> = OnceLock::new();
    *WATCHED
        .get_or_init(|| env::debugging() || recorder::recorder().is_some() || sites::are_recorded())
}

/// Allocates a block that is watched.
#[cold]
pub(super) fn allocate(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: usize,
    align: usize,
) -> Option<usize> {
    let guarded = env::debugging().then(|| allocate_guarded(job, space, size, align)).flatten();
    // Without a guard, if there is no room for both.
    let offset = guarded.or_else(|| space.allocate(size, align))?;
    recorder::note(routine.name(), Kind::Allocated, size);
    sites::allocated(space.address(offset).addr(), size);
    Some(offset)
}

/// Handles a block that is about to be freed, where blocks are watched.
#[cold]
pub(super) fn forget(space: &Space, routine: Routine, offset: usize) {
    if env::debugging() {
        let block = space.address(offset).addr();
        failure::if_any(routine, guards::damage_of(block));
        guards::forget(block);
    }
    sites::freed(space.address(offset).addr());
    if let Some(size) = space.pool().size_of(offset) {
        recorder::note(routine.name(), Kind::Freed, size);
    }
}

/// Says why an allocation has failed: each time under `SHMEM_DEBUG`, otherwise the first time that there was
/// no room.
#[cold]
pub(super) fn refused(
    job: &Job,
    space: &Space,
    routine: Routine,
    size: Option<usize>,
    align: usize,
) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let is_first = || space.possible(size, align).is_some() && !SAID.swap(true, Ordering::Relaxed);
    // Every PE fails in the same way, so one report is enough.
    if job.pe() == 0 && (env::debugging() || is_first()) {
        message::say(Refusal { job, routine, size, align, space });
        message::say_caller(None);
    }
}

/// Allocates a block with a guard, unless it is on a device.
fn allocate_guarded(job: &Job, space: &Space, size: usize, align: usize) -> Option<usize> {
    if job.devices().is_some_and(|it| it.find(space.range().start).is_some()) {
        return None;
    }
    let offset = space.allocate(guards::with_guard(size)?, align)?;
    // SAFETY: the block has just been allocated with this room, and stays until `free`, `relocate` or
    // the end of the lifetime.
    unsafe { guards::lay(space.address(offset), size) };
    Some(offset)
}

/// Why an allocation failed.
struct Refusal<'a> {
    job: &'a Job,
    routine: Routine,
    size: Option<usize>,
    align: usize,
    space: &'a Space,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returns NULL: ", self.routine)?;
        match self.size {
            None => write!(f, "more bytes were asked for than can be counted")?,
            Some(size) => write!(f, "{size} bytes were asked for")?,
        }
        if self.align != GRANULE {
            write!(f, " at a multiple of {}", self.align)?;
        }
        if !self.align.is_power_of_two() {
            return write!(f, "; expected a power of two as alignment");
        }
        let largest = self.space.largest_alignment();
        if self.align > largest {
            return write!(f, "; the largest alignment is {largest}");
        }
        let (usage, bytes) = (self.space.pool().usage(), self.space.range().len());
        let (name, variable) = match self.job.partition_of(self.space.range().start) {
            None => ("the symmetric heap".into(), env::SYMMETRIC_SIZE.name.into()),
            Some(partition) => {
                let id = partition.spec().id;
                (format!("partition {id}"), format!("the SIZE of SHMEM_SYMMETRIC_PARTITION{id}"))
            }
        };
        write!(
            f,
            "; {} of {bytes} bytes of {name} are free, the largest piece has {}; set {variable} \
             to have more",
            usage.free, usage.largest,
        )
    }
}
