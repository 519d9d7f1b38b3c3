//! Under `SHMEM_DEBUG`: which active sets use the PEs' `pSync` arrays (specification, 9.9 of 1.4). Two
//! sets may use the array at one address at the same time if they have no PE in common; otherwise the
//! second may begin only when all PEs of the first have returned. A program that does not keep to that
//! mostly works, and sometimes hangs or gets wrong results, so it is told.
//!
//! Each PE has a table of words in the job's file: an array of the PE, and who uses it. Every member of a
//! set counts itself in at all members, and out again when it returns. Members on other nodes are not
//! looked at, nor the PEs of a job without a file.
//!
//! ```text
//!  key: part of the slot, offset     use: PE_start, log stride, PE_size, a PE that is in it, how many are
//! ```

use super::members::ActiveSet;
use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::call::job;
use crate::failure;
use crate::message;
use crate::pe::{Job, about};
use onenode_core::collectives::group::Reach;
use onenode_core::sys::mutex;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::control::psyncs::WORDS;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// The arrays that this PE's threads use now.
static OWN: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn own() -> MutexGuard<'static, Vec<u64>> {
    mutex::lock(&OWN)
}

/// The use of an array by a set, and how many of its members are in the call: one word, so that it
/// changes at once.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ArrayUse(u64);

const COUNT_BITS: u32 = 13;
const PE_BITS: u32 = 12;
const _: () = assert!(oneshmem_job::jobfile::MAX_PES <= 1 << PE_BITS);

impl ArrayUse {
    /// By this set, whose member `pe` is in the call.
    fn of(set: &ActiveSet, pe: usize) -> Self {
        // The stride of a set of one PE means nothing.
        let log = if set.size > 1 { set.stride.trailing_zeros() } else { 0 };
        let set = (set.start as u64) << COUNT_BITS | set.size as u64;
        Self((set << 5 | u64::from(log)) << (PE_BITS + COUNT_BITS) | (pe as u64) << COUNT_BITS | 1)
    }
    fn count(self) -> u64 {
        self.0 & ((1 << COUNT_BITS) - 1)
    }
    fn pe(self) -> u64 {
        self.0 >> COUNT_BITS & ((1 << PE_BITS) - 1)
    }
    fn set(self) -> u64 {
        self.0 >> (PE_BITS + COUNT_BITS)
    }
}

/// Its set, and a PE that is in the call.
impl fmt::Display for ArrayUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pe, set) = (self.pe(), self.set());
        let (log, size) = (set & 31, set >> 5 & ((1 << COUNT_BITS) - 1));
        let start = set >> (5 + COUNT_BITS);
        write!(
            f,
            "PE {pe} is in a collective on the active set PE_start = {start}, logPE_stride = {log}, \
             PE_size = {size}"
        )
    }
}

/// A member's use of its set's arrays, until the value is dropped.
pub(super) struct InUse {
    key: u64,
    words: Vec<&'static AtomicU64>,
}

/// Counts this PE in. Ends the job if a member's array is in use.
pub(super) fn begin(set: &ActiveSet) -> InUse {
    let (job, routine) = (job(set.routine), set.routine);
    let key = about::place_number(job, set.psync.address());
    let is_new = {
        let mut own = own();
        let is_new = !own.contains(&key);
        own.push(key);
        is_new
    };
    if !is_new {
        refuse(set, "another thread of this PE is in a collective with it");
    }
    let mine = ArrayUse::of(set, job.pe());
    let near = (0..set.size).map(|member| set.number(member)).filter(|pe| job.is_near(*pe));
    let words = near.filter_map(|pe| {
        let word = word_of(routine, job, pe, key)?;
        if let Err(theirs) = count_in(word, mine) {
            refuse(set, format_args!("{theirs}, and has not finished with PE {pe}'s array"));
        }
        Some(word)
    });
    InUse { key, words: words.collect() }
}

fn refuse(set: &ActiveSet, in_use: impl fmt::Display) -> ! {
    failure::misuse(
        set.routine,
        format_args!("pSync = {:#x}", set.psync.address()),
        format_args!(
            "{in_use}; expected an array that no PE of this active set uses in another call, which may \
             have returned on some PEs only"
        ),
    )
}

/// The word of PE `pe`'s array. `None` if there is none.
fn word_of(routine: Routine, job: &'static Job, pe: usize, key: u64) -> Option<&'static AtomicU64> {
    let words = match job.control().psyncs() {
        Ok(words) => words?,
        Err(error) => failure::fatal(format_args!("{routine}: {error}")),
    };
    let table = &words[pe * WORDS..][..WORDS];
    // The words of an array stay with it.
    let found = table.chunks_exact(2).find(|entry| {
        let order = Ordering::Relaxed;
        entry[0].compare_exchange(0, key, order, order).is_ok() || entry[0].load(order) == key
    });
    static TOLD: AtomicBool = AtomicBool::new(false);
    if found.is_none() && !TOLD.swap(true, Ordering::Relaxed) {
        message::say(format_args!(
            "{routine}: whether pSync is in use is not checked: the program has more than {} arrays",
            WORDS / 2
        ));
    }
    found.map(|entry| &entry[1])
}

fn count_in(word: &AtomicU64, mine: ArrayUse) -> Result<(), ArrayUse> {
    let next = |word| match ArrayUse(word) {
        free if free.count() == 0 => Some(mine.0),
        theirs if theirs.set() == mine.set() => Some(word + 1),
        _ => None,
    };
    let result = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
    result.map(|_| ()).map_err(ArrayUse)
}

impl Drop for InUse {
    fn drop(&mut self) {
        for word in &self.words {
            word.fetch_sub(1, Ordering::Release);
        }
        own().retain(|key| *key != self.key);
    }
}
