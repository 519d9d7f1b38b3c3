//! Records the order in which a PE allocates and frees blocks of its partitions, where its peers
//! can read it. Blocks allocated without a barrier are symmetric only if all PEs do so in the same
//! order. Under `SHMEM_DEBUG` each PE compares its steps with those of its peers.

use crate::atomics::{AtomicU64, Ordering};
use std::fmt;

/// How many steps are kept, which limits how far apart PEs can be when they are compared.
const KEPT: u64 = 64;

/// A PE's last steps. A zero entry is empty.
#[repr(C)]
pub struct Order {
    made: AtomicU64,
    kept: [AtomicU64; KEPT as usize],
}

/// One step of a PE: 24 bits of step number, 6 of partition, 1 of kind, 33 of amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step(u64);

const NUMBERS: u64 = 1 << 24;
const AMOUNTS: u64 = 1 << 33;

impl Step {
    /// Allocates a block of this size from partition `id`.
    pub fn take(id: usize, bytes: usize) -> Self {
        Self::new(id, 0, bytes)
    }

    /// Frees the block of partition `id` at this offset.
    pub fn give(id: usize, offset: usize) -> Self {
        Self::new(id, 1, offset)
    }

    fn new(id: usize, kind: u64, amount: usize) -> Self {
        Self((id as u64 % 64) << 34 | kind << 33 | (amount as u64).min(AMOUNTS - 1))
    }

    fn number(self) -> u64 {
        self.0 >> 40
    }

    fn numbered(self, number: u64) -> Self {
        Self(self.0 | (number % NUMBERS) << 40)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, amount) = (self.0 >> 34 & 63, self.0 % AMOUNTS);
        match self.0 >> 33 & 1 {
            0 => write!(f, "takes {amount} bytes of partition {id}"),
            _ => write!(f, "gives back the block at offset {amount} of partition {id}"),
        }
    }
}

impl Order {
    /// Begins a new lifetime.
    pub fn begin(&self, lifetime: u32) {
        // So that steps of the previous lifetime are not compared.
        self.made.store(u64::from(lifetime % 16) << 20, Ordering::Relaxed);
    }

    /// Records a step of this PE, and returns it with its number.
    pub fn note(&self, step: Step) -> Step {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let step = step.numbered(number);
        self.kept[(number % KEPT) as usize].store(step.0, Ordering::SeqCst);
        step
    }

    /// This PE's own step in place of a step that another PE has made, if it is known and differs.
    pub fn instead_of(&self, other: Step) -> Option<Step> {
        let step = Step(self.kept[(other.number() % KEPT) as usize].load(Ordering::SeqCst));
        (step.number() == other.number() && step != other).then_some(step)
    }
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub fn fields() -> Fields {
        fields!("Order", Order { made, kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Order {
        Order { made: AtomicU64::new(0), kept: [const { AtomicU64::new(0) }; KEPT as usize] }
    }

    #[test]
    fn alike() {
        let (one, other) = (none(), none());
        for lifetime in 1..3 {
            one.begin(lifetime);
            other.begin(lifetime);
            for n in 0..200 {
                let step = one.note(Step::take(1, 100 * n));
                assert_eq!(other.instead_of(step), None, "not made yet");
                let step = other.note(Step::take(1, 100 * n));
                assert_eq!(one.instead_of(step), None);
            }
            let step = one.note(Step::give(1, 640));
            assert_eq!(other.instead_of(step), None);
        }
    }

    #[test]
    fn one_more() {
        let (one, other) = (none(), none());
        one.note(Step::take(1, 800));
        one.note(Step::take(2, 400));
        let step = other.note(Step::take(2, 400));
        let instead = one.instead_of(step).expect("a difference").to_string();
        assert_eq!(instead, "takes 800 bytes of partition 1");
        assert_eq!(step.to_string(), "takes 400 bytes of partition 2");
        let step = other.note(Step::give(2, 0));
        assert!(one.instead_of(step).is_some(), "another kind of step");
    }

    #[test]
    fn another_lifetime() {
        let (one, other) = (none(), none());
        other.begin(1);
        other.note(Step::take(1, 64));
        one.begin(1);
        one.begin(2);
        other.begin(2);
        let step = one.note(Step::take(1, 128));
        assert_eq!(other.instead_of(step), None);
    }
}
