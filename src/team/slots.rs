//! Team slots of the control area, handed out over the whole job.

use super::PREDEFINED;
use crate::atomics::{AtomicU64, Ordering};
use crate::job::control::Control;

/// Takes a free slot for a new team, or `None` if all are in use.
pub fn acquire(control: &Control) -> Option<usize> {
    take_first_free(&control.header().teams, control.team_slots())
}

/// Gives a slot back. All members have done their last step in it.
pub fn release(control: &Control, slot: usize) {
    give_back(&control.header().teams, slot);
}

fn take_first_free(bitmap: &[AtomicU64], slots: usize) -> Option<usize> {
    bitmap.iter().enumerate().find_map(|(index, word)| {
        // The predefined teams' bits are never set, nor ever handed out; nor are those
        // past the last slot.
        let here = slots.saturating_sub(index * 64);
        let beyond = if here < 64 { !0 << here } else { 0 };
        let reserved = if index == 0 { (1 << PREDEFINED) - 1 } else { 0 } | beyond;
        let mut used = word.load(Ordering::Relaxed);
        loop {
            let bit = (!(used | reserved)).trailing_zeros();
            if bit == u64::BITS {
                return None;
            }
            // Acquire: the slot's last users are done with it.
            match word.compare_exchange_weak(
                used,
                used | 1 << bit,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(index * 64 + bit as usize),
                Err(now) => used = now,
            }
        }
    })
}

fn give_back(bitmap: &[AtomicU64], slot: usize) {
    let mask = 1 << (slot % 64);
    let before = bitmap[slot / 64].fetch_and(!mask, Ordering::Release);
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
