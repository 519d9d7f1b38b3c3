//! Mutexes, without poisoning: what they guard is whole after each step of a change.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks a mutex, even if a thread panicked while holding it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // ThreadSanitizer cannot see how the standard library waits. It would report accesses that the
    // guard orders as races.
    while cfg!(thread_sanitizer) {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(error)) => return error.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
