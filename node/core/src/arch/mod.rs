//! Code that depends on the processor: the only place of the repository that asks for which architecture
//! it is compiled, beside the template of the inline header. A test holds that.
//!
//! An architecture is a folder here that has all items listed below. CONTRIBUTING.md says what each
//! has to do. Nothing here decides what to use when: that is the business of the files above.
#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
use aarch64 as this;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as this;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("no folder in node/core/src/arch/ is for this architecture: see CONTRIBUTING.md");

/// Atomic read-modify-writes are [`ReadModifyWrite`]'s.
pub use this::atomics::prepare;
/// Ways to copy more than 64 bytes.
pub use this::copies::{moves, stream, string, suits, width};
/// Machine code that touches neither the C library nor what sanitizers replace.
pub use this::kernel::{
    SIGNAL_FLAGS, copy, program_counter, signal_return, step_in, step_out, syscall,
    valgrind_request, writes,
};
/// Every second element.
pub use this::pairs;
/// Stacks.
pub use this::stacks::{announce_and_wait, in_helper, on_other, stack_pointer};
/// Writing caches back to memory.
pub use this::write_back::WriteBack;
/// Facts of the architecture.
pub use this::{
    ADDS_CONSTANTS, ARGUMENT_REGISTERS, DELAYS_LOADS_BEHIND_STORES, EXCHANGES_ARE_FULL_BARRIERS,
    FUNCTION_RELOCATIONS, REACHES_NEXT_WORDS, ticks, ticks_a_microsecond,
};

/// Bytes of a cache line that copies start at.
pub const LINE: usize = 64;
/// Bytes of the smallest page. Processors' first checks do not tell addresses apart that are as far
/// from each other.
pub const PAGE: usize = 4096;

/// The ways to copy that suit this processor.
#[derive(Clone, Copy, Debug)]
pub struct CopyPreferences {
    /// The fewest bytes for [`string`]; [`usize::MAX`] if it does not pay.
    pub string_from: usize,
    /// It does not pay where the destination lies fewer bytes than this after the source, modulo
    /// [`PAGE`].
    pub string_apart: usize,
    /// Whether [`stream`] pays for what the caches cannot hold.
    pub streams: bool,
    /// From how many pages [`stream`] takes its lines in turn.
    pub abreast: usize,
}

/// Read-modify-write operations of an atomic of one width, acquiring and releasing.
pub trait ReadModifyWrite<B> {
    /// Replaces the value, and returns the old one, as all of these do.
    fn swap(&self, value: B) -> B;
    /// Replaces the value if it is `cond`.
    fn compare_swap(&self, cond: B, value: B) -> B;
    /// Adds to the value, which wraps.
    fn add(&self, value: B) -> B;
    /// Keeps the bits of `value`.
    fn and(&self, value: B) -> B;
    /// Sets the bits of `value`.
    fn or(&self, value: B) -> B;
    /// Flips the bits of `value`.
    fn xor(&self, value: B) -> B;
}

/// The words with which a process and its helper wait for each other.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Meeting {
    /// The helper's process ID while it runs, then 0: the kernel writes this word.
    helper: u32,
    /// Nonzero once the helper may begin.
    go: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomics::{AtomicU32, AtomicU64, Ordering};

    #[test]
    fn read_modify_writes_return_the_old_value() {
        // Before and after it is known what the processor has.
        each();
        prepare();
        each();
    }

    fn each() {
        macro_rules! check {
            ($atomic:ty, $bits:ty) => {
                let word = <$atomic>::new(6);
                let low: $bits = 1;
                assert_eq!(ReadModifyWrite::add(&word, <$bits>::MAX), 6);
                assert_eq!(ReadModifyWrite::and(&word, !low), 5);
                assert_eq!(ReadModifyWrite::or(&word, 3), 4);
                assert_eq!(ReadModifyWrite::xor(&word, 5), 7);
                assert_eq!(ReadModifyWrite::swap(&word, 9), 2);
                assert_eq!(ReadModifyWrite::compare_swap(&word, 8, 1), 9);
                assert_eq!(ReadModifyWrite::compare_swap(&word, 9, <$bits>::MAX - 1), 9);
                assert_eq!(word.load(Ordering::Relaxed), <$bits>::MAX - 1);
            };
        }
        check!(AtomicU32, u32);
        check!(AtomicU64, u64);
    }

    #[test]
    fn bytes_are_copied_and_no_others() {
        for len in 0..200 {
            let source: Vec<u8> = (0..len).collect();
            let mut dest = vec![0xff; 202];
            let to = dest[1..].as_mut_ptr().addr();
            // SAFETY: two buffers that are large enough, and disjoint.
            unsafe { copy(source.as_ptr().addr(), to, source.len()) };
            assert_eq!(dest[1..][..source.len()], source[..]);
            assert!(dest[0] == 0xff && dest[1 + source.len()..].iter().all(|byte| *byte == 0xff));
        }
    }
}
