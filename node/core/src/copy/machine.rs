//! The limits between the methods of copying that suit this x86-64 processor.
#![allow(unsafe_code)]

use super::methods::{Methods, has_wide_moves};
use crate::sys::caches;
use std::arch::x86_64::__cpuid;

/// The fewest bytes for `rep movsb`. Where source and destination are both in the first-level
/// cache, wide moves would be better up to some 16 KiB; but the destination was last used by
/// another PE. From the second-level cache, `rep movsb` wins from 1 to 4 KiB on.
const STRING: usize = 4096;

/// The destinations for which `rep movsb` is not used: fewer bytes after the source than this, modulo
/// the page size. Processors that are good at it copy a byte at a time there, at a twentieth of their
/// best speed:
///
/// * AMD Zen 3 and Zen 4: 1 to 15 bytes after the source; 16 to 31 bytes after it at half of the best
///   speed. Measured for all 4096 offsets at any alignment, and reported as
///   <https://sourceware.org/bugzilla/show_bug.cgi?id=30994>.
/// * Intel: 1 to 63 bytes after it, modulo 4 GiB, according to glibc, which avoids that
///   (`Avoid_Short_Distance_REP_MOVSB`).
///
/// One rule covers both. Blocks from `malloc` begin 16 bytes after a page's start, and blocks from
/// `shmem_malloc` at one, so every get into large private memory is such a copy.
const STRING_APART: usize = 64;

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
    // If the system does not report it: the size that even small processors have.
    let last = caches::last_cache_size().unwrap_or(2 << 20);
    let enhanced = is_x86_feature_detected!("ermsb");
    let model = Model::here();
    Methods {
        string_from: string_from(enhanced, has_wide_moves(), model),
        string_apart: STRING_APART,
        cached_to: (last / 8 * 3).min(MOST_CACHED),
        abreast: abreast(model),
        together_to: last.min(MOST_TOGETHER) * caches::last_caches(),
    }
}

/// The size from which a processor is better at `rep movsb` than at wide moves.
///
/// Never on AMD's families before 1Ah with 32-byte moves. Zen 3 and Zen 4 report that they are good
/// at it, but at best match such moves, wherever the destination was used last; glibc no longer
/// uses it there (its bug 30994). Compared with 16-byte moves it is better there, too, up to 16
/// KiB. On Zen 5 it is better from the second-level cache.
fn string_from(enhanced: bool, avx: bool, model: Model) -> usize {
    let poor = model.is_amd && model.family < 0x1a && avx;
    if enhanced && !poor { STRING } else { usize::MAX }
}

/// From how many pages at a time copies that bypass the caches take their lines. More pages keep more
/// banks of the memory busy: four give 1.25 to 1.3 times the bandwidth on Intel's Xeon of 2024
/// (Granite Rapids), and 0.97 where the cache is large enough after all; two and eight give less. The C
/// library does so for the largest copies. On Zen 4 two pages give 0.6 of the bandwidth of one, four 0.75.
fn abreast(model: Model) -> usize {
    if model.is_amd { 1 } else { 4 }
}

/// The processor model, as far as the method depends on it.
#[derive(Clone, Copy)]
struct Model {
    is_amd: bool,
    family: u32,
}

impl Model {
    fn here() -> Self {
        // SAFETY: every x86-64 processor has the instruction. Newer compilers know that.
        #[allow(unused_unsafe)]
        let (vendor, signature) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let base = signature >> 8 & 0xf;
        Self {
            // "AuthenticAMD"
            is_amd: [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163],
            family: if base == 0xf { base + (signature >> 20 & 0xff) } else { base },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEN_4: Model = Model { is_amd: true, family: 0x19 };
    const ZEN_5: Model = Model { is_amd: true, family: 0x1a };
    const INTEL: Model = Model { is_amd: false, family: 6 };

    #[test]
    fn the_string_instruction_only_where_it_is_quick() {
        for (enhanced, avx, model, least) in [
            (true, true, INTEL, STRING),
            (true, true, ZEN_5, STRING),
            (true, true, ZEN_4, usize::MAX),
            (true, false, ZEN_4, STRING),
            (false, true, INTEL, usize::MAX),
            (false, true, ZEN_5, usize::MAX),
        ] {
            assert_eq!(string_from(enhanced, avx, model), least);
        }
    }

    #[test]
    fn no_cache_is_too_large() {
        assert!((1 << 20..=MOST_CACHED).contains(&built_in().cached_to));
    }
}
