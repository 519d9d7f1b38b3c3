//! Allocates team slots of the control area for the whole job, in the control area of PE 0's node.

use super::PREDEFINED;
use crate::atomics::Ordering;
use crate::pe::Job;
use onenode_core::lock::Word as _;
use oneshmem_job::jobfile::control::{Header, TEAM_SLOTS};
use oneshmem_job::remote::{CONTROL, Far, Word};
use std::mem::offset_of;

/// The bitmap of the slots in use.
fn bitmap(job: &Job) -> [Word<'_>; TEAM_SLOTS / 64] {
    let first = Far { pe: 0, offset: CONTROL + offset_of!(Header, teams) as u64 };
    let near = &job.control().header().teams;
    std::array::from_fn(|i| match job.engine_to(0) {
        Some(engine) => Word::Far(engine, first.plus(8 * i)),
        None => Word::Near(&near[i]),
    })
}

/// Allocates a free slot for a new team; `None` if all are in use.
pub fn acquire(job: &Job) -> Option<usize> {
    take_first_free(&bitmap(job), job.control().team_slots())
}

/// Frees a slot. All members have made their last step in it.
pub fn release(job: &Job, slot: usize) {
    give_back(&bitmap(job), slot);
}

fn take_first_free(bitmap: &[Word<'_>], slots: usize) -> Option<usize> {
    bitmap.iter().enumerate().find_map(|(index, word)| {
        // Bits of predefined teams are never set, and their slots never allocated; the same holds
        // for bits past the last slot.
        let here = slots.saturating_sub(index * 64);
        let beyond = if here < 64 { !0 << here } else { 0 };
        let reserved = if index == 0 { (1 << PREDEFINED) - 1 } else { 0 } | beyond;
        let mut used = word.load(Ordering::Relaxed);
        loop {
            let bit = (!(used | reserved)).trailing_zeros();
            if bit == u64::BITS {
                return None;
            }
            // Acquire: the slot's previous users have finished with it.
            let (taken, acquire, failed) = (used | 1 << bit, Ordering::Acquire, Ordering::Relaxed);
            match word.compare_exchange_weak(used, taken, acquire, failed) {
                Ok(_) => return Some(index * 64 + bit as usize),
                Err(now) => used = now,
            }
        }
    })
}

fn give_back(bitmap: &[Word<'_>], slot: usize) {
    let mask = 1 << (slot % 64);
    let before = bitmap[slot / 64].fetch_and(!mask, Ordering::Release);
    debug_assert!(before & mask != 0, "slot {slot} was not in use");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomics::AtomicU64;

    #[test]
    fn every_slot_once_and_again_after_release() {
        let words = [const { AtomicU64::new(0) }; 2];
        let bitmap = words.each_ref().map(Word::Near);
        let taken: Vec<_> = std::iter::from_fn(|| take_first_free(&bitmap, 120)).collect();
        assert_eq!(taken, (PREDEFINED..120).collect::<Vec<_>>());
        for slot in [2, 63, 64, 119] {
            give_back(&bitmap, slot);
            assert_eq!(take_first_free(&bitmap, 120), Some(slot));
        }
        assert_eq!(take_first_free(&bitmap, 120), None);
    }
}
