//! A 64-bit word of this node or of another.

use super::{Action, Amo, Engine, Far};
use crate::atomics::{AtomicU64, Ordering};
use onenode_core::lock;

/// A word, accessed by [the operations](lock::Word) of [`AtomicU64`].
#[derive(Clone, Copy)]
pub enum Word<'w> {
    /// On this node.
    Near(&'w AtomicU64),
    /// On another node.
    Far(&'w dyn Engine, Far),
}

impl Word<'_> {
    fn fetch(engine: &dyn Engine, at: Far, action: Action, operand: u64) -> u64 {
        engine.fetch(at, Amo::on_u64(action, operand))
    }
}

/// An engine waits for each operation, and its agent carries it out with the processor's own
/// instructions. So the requested orders are kept.
impl lock::Word for Word<'_> {
    fn load(&self, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.load(order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::Add, 0),
        }
    }
    fn store(&self, value: u64, order: Ordering) {
        match self {
            Self::Near(word) => word.store(value, order),
            Self::Far(engine, at) => {
                Self::fetch(*engine, *at, Action::Swap, value);
            }
        }
    }
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.fetch_or(bits, order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::Or, bits),
        }
    }
    fn fetch_and(&self, bits: u64, order: Ordering) -> u64 {
        match self {
            Self::Near(word) => word.fetch_and(bits, order),
            Self::Far(engine, at) => Self::fetch(*engine, *at, Action::And, bits),
        }
    }
    fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        match self {
            Self::Near(word) => word.compare_exchange_weak(current, new, success, failure),
            Self::Far(engine, at) => {
                let stood = Self::fetch(*engine, *at, Action::CompareSwap(current), new);
                if stood == current { Ok(stood) } else { Err(stood) }
            }
        }
    }
}
