//! Fields that are settled while operations run, so that these read them like constants.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

/// A value that initialisation and finalisation write, and operations read with plain loads.
#[repr(transparent)]
pub struct Settled<T>(UnsafeCell<T>);

// SAFETY: who calls `change` guarantees that nobody reads meanwhile. A thread that reads later has
// learned of the change from the thread that made it.
unsafe impl<T: Send + Sync> Sync for Settled<T> {}

impl<T> Settled<T> {
    /// These fields.
    pub const fn new(fields: T) -> Self {
        Self(UnsafeCell::new(fields))
    }

    /// The fields.
    #[inline(always)]
    pub fn get(&self) -> &T {
        // SAFETY: who calls `change` guarantees that no such reference exists meanwhile.
        unsafe { &*self.0.get() }
    }

    /// Changes the fields.
    ///
    /// # Safety
    /// Until the call returns, nobody reads them, here or in `change`, and nobody else changes them.
    /// Threads that read them later synchronise with this one.
    pub unsafe fn change(&self, change: impl FnOnce(&mut T)) {
        // SAFETY: the caller guarantees that there is no other reference.
        change(unsafe { &mut *self.0.get() });
    }
}
