//! Which peers are attached: each once, by the first thread that needs it.

use crate::atomics::{AtomicU32, Ordering};

/// No thread has attached the peer yet.
const NONE: u32 = 0;
/// A thread is attaching the peer.
const UNDER_WAY: u32 = 1;
/// The peer is attached.
const DONE: u32 = 2;

/// One state per peer.
pub struct Attachments(Box<[AtomicU32]>);

impl Attachments {
    /// None of `npes` peers is attached.
    pub fn none(npes: usize) -> Self {
        Self((0..npes).map(|_| AtomicU32::new(NONE)).collect())
    }

    /// Returns when `pe` is attached. The first thread to ask runs `attach`, the others wait for it
    /// with `pause`. `attach` does not return if it fails.
    pub fn ensure(&self, pe: usize, attach: impl FnOnce(), mut pause: impl FnMut()) {
        let state = &self.0[pe];
        match state.compare_exchange(NONE, UNDER_WAY, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                attach();
                // Release: publishes what was mapped and recorded along with the state.
                state.store(DONE, Ordering::Release);
            }
            Err(_) => {
                while state.load(Ordering::Acquire) != DONE {
                    pause();
                }
            }
        }
    }

    /// How many peers are attached.
    pub fn count(&self) -> usize {
        self.0.iter().filter(|state| state.load(Ordering::Relaxed) == DONE).count()
    }

    /// Marks all peers as not attached. No other thread may use this value meanwhile.
    pub fn forget(&self) {
        self.0.iter().for_each(|state| state.store(NONE, Ordering::Relaxed));
    }
}
