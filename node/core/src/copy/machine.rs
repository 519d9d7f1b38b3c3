//! The limits between the methods of copying that suit this processor.

use super::methods::Methods;
use crate::arch;
use crate::sys::caches;

/// The most bytes that go through the caches, however large the last one is: others use it, too, other
/// PEs and other virtual machines. With one of 480 MiB, for the 2 CPUs of a virtual machine, copies of
/// 4 to 16 MiB are as quick either way, and larger ones are quicker past the caches: twice as quick
/// from 32 MiB on.
const MOST_CACHED: usize = 16 << 20;

/// The same for all copies of a collective together. On that machine, an all-to-all or fcollect of 4 or 8
/// PEs that takes up to 64 MiB is about as quick either way. One that takes 72 MiB is 1.2 times as quick
/// past the caches, with 128 MiB up to 1.7 times.
const MOST_TOGETHER: usize = 64 << 20;

/// The limits that suit this processor. Copies go through the caches as long as source and destination
/// take at most three quarters of the last one. On Zen 4 with 32 MiB, 8 MiB are 1.4 times as quick through
/// the caches as past them, 16 MiB 0.85 times.
pub(super) fn built_in() -> Methods {
    let suits = arch::suits();
    let usual = Methods {
        string_from: suits.string_from,
        string_apart: suits.string_apart,
        abreast: suits.abreast,
        ..Methods::ONE
    };
    if !suits.streams {
        return usual;
    }
    // If the system does not report it: the size that even small processors have.
    let last = caches::last_cache_size().unwrap_or(2 << 20);
    Methods {
        cached_to: (last / 8 * 3).min(MOST_CACHED),
        together_to: last.min(MOST_TOGETHER) * caches::last_caches(),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cache_is_too_large() {
        let range =
            if arch::suits().streams { 1 << 20..=MOST_CACHED } else { usize::MAX..=usize::MAX };
        assert!(range.contains(&built_in().cached_to));
    }
}
