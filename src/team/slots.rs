//! Allocates team slots of the control area for the whole job, in the control area of PE 0's node.

use super::PREDEFINED;
use crate::atomics::{AtomicU64, Ordering};
use crate::job::Job;
use oneshmem_job::jobfile::control::{Header, TEAM_SLOTS};
use oneshmem_job::remote::{Action, Amo, CONTROL, Engine, Far};
use std::mem::offset_of;

/// A word of a bitmap of the slots in use.
trait Word {
    fn load(&self) -> u64;
    /// Writes `new` if the value is `old`; otherwise returns the value.
    fn replace(&self, old: u64, new: u64) -> Result<(), u64>;
    /// Returns the old value.
    fn and(&self, mask: u64) -> u64;
}

impl Word for AtomicU64 {
    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Relaxed)
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        // Acquire: the slot's previous users have finished with it.
        self.compare_exchange(old, new, Ordering::Acquire, Ordering::Relaxed).map(|_| ())
    }
    fn and(&self, mask: u64) -> u64 {
        self.fetch_and(mask, Ordering::Release)
    }
}

/// A word on another node.
struct FarWord<'e>(&'e dyn Engine, Far);

impl FarWord<'_> {
    fn all(engine: &dyn Engine) -> [FarWord<'_>; TEAM_SLOTS / 64] {
        let first = Far { pe: 0, offset: CONTROL + offset_of!(Header, teams) as u64 };
        std::array::from_fn(|i| FarWord(engine, first.plus(8 * i)))
    }

    fn fetch(&self, action: Action, operand: u64) -> u64 {
        self.0.fetch(self.1, Amo { action, operand, bytes: 8 })
    }
}

impl Word for FarWord<'_> {
    fn load(&self) -> u64 {
        self.fetch(Action::Add, 0)
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let stood = self.fetch(Action::CompareSwap(old), new);
        if stood == old { Ok(()) } else { Err(stood) }
    }
    fn and(&self, mask: u64) -> u64 {
        self.fetch(Action::And, mask)
    }
}

/// Allocates a free slot for a new team; `None` if all are in use.
pub fn acquire(job: &Job) -> Option<usize> {
    let slots = job.control().team_slots();
    match job.engine_to(0) {
        Some(engine) => take_first_free(&FarWord::all(engine), slots),
        None => take_first_free(&job.control().header().teams, slots),
    }
}

/// Frees a slot. All members have made their last step in it.
pub fn release(job: &Job, slot: usize) {
    match job.engine_to(0) {
        Some(engine) => give_back(&FarWord::all(engine), slot),
        None => give_back(&job.control().header().teams, slot),
    }
}

fn take_first_free(bitmap: &[impl Word], slots: usize) -> Option<usize> {
    bitmap.iter().enumerate().find_map(|(index, word)| {
        // Bits of predefined teams are never set, and their slots never allocated; the same holds
        // for bits past the last slot.
        let here = slots.saturating_sub(index * 64);
        let beyond = if here < 64 { !0 << here } else { 0 };
        let reserved = if index == 0 { (1 << PREDEFINED) - 1 } else { 0 } | beyond;
        let mut used = word.load();
        loop {
            let bit = (!(used | reserved)).trailing_zeros();
            if bit == u64::BITS {
                return None;
            }
            match word.replace(used, used | 1 << bit) {
                Ok(()) => return Some(index * 64 + bit as usize),
                Err(now) => used = now,
            }
        }
    })
}

fn give_back(bitmap: &[impl Word], slot: usize) {
    let mask = 1 << (slot % 64);
    let before = bitmap[slot / 64].and(!mask);
    debug_assert!(before & mask != 0, "slot {slot} was not in use");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_once_and_again_after_release() {
        let bitmap = [const { AtomicU64::new(0) }; 2];
        let taken: Vec<_> = std::iter::from_fn(|| take_first_free(&bitmap, 120)).collect();
        assert_eq!(taken, (PREDEFINED..120).collect::<Vec<_>>());
        for slot in [2, 63, 64, 119] {
            give_back(&bitmap, slot);
            assert_eq!(take_first_free(&bitmap, 120), Some(slot));
        }
        assert_eq!(take_first_free(&bitmap, 120), None);
    }
}
