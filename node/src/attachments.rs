//! Which peers are attached: each once, by whichever thread comes first.

use crate::atomics::{AtomicU32, Ordering};

/// Nobody has attached the peer yet.
const NONE: u32 = 0;
/// A thread is about to.
const UNDER_WAY: u32 = 1;
/// The peer is attached.
const DONE: u32 = 2;

/// One state a peer.
pub struct Attachments(Box<[AtomicU32]>);

impl Attachments {
    /// No peer of `npes` is attached.
    pub fn none(npes: usize) -> Self {
        Self((0..npes).map(|_| AtomicU32::new(NONE)).collect())
    }

    /// Returns when `pe` is attached, after `attach` if this thread is the first to want
    /// it; other threads wait for that one by `pause`. `attach` does not return if it
    /// fails.
    pub fn ensure(&self, pe: usize, attach: impl FnOnce(), mut pause: impl FnMut()) {
        let state = &self.0[pe];
        match state.compare_exchange(NONE, UNDER_WAY, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                attach();
                // Release: what was mapped, and noted of it, comes with the state.
                state.store(DONE, Ordering::Release);
            }
            Err(_) => {
                while state.load(Ordering::Acquire) != DONE {
                    pause();
                }
            }
        }
    }

    /// No peer is attached any more. No other thread may be here.
    pub fn forget(&self) {
        self.0.iter().for_each(|state| state.store(NONE, Ordering::Relaxed));
    }
}
