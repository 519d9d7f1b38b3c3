//! How contexts number PEs, in the form that the data path reads.
//!
//! A context's handle has a number in bits 4 to 15, [`TAG`] in bits 0 to 3, and zeros above. The
//! data path uses the low 16 bits as an index, whatever the caller has passed: every index has a
//! number of PEs, which is 0 except for existing contexts. So garbage, such as a pointer, reads
//! nothing but this table and takes the slow path like a PE number that is too large; only a value
//! that ends in exactly the 16 bits of an existing context is taken for that context. All code
//! except the data path looks at all bits.
#![allow(unsafe_code)]

use super::PeArg;
use crate::atomics::{AtomicU32, Ordering};

/// How many contexts can exist at once.
pub const CONTEXTS: usize = 1 << 12;
/// The low bits of a handle: no aligned address has them, and no context is number 0.
const TAG: usize = 0xb;
const NUMBER_AT: u32 = 4;

/// How a team numbers its PEs in the world.
#[repr(C, align(64))]
struct Record {
    /// World number of the team's PE 0.
    start: AtomicU32,
    /// Distance between the team's PEs, in two's complement.
    stride: AtomicU32,
}

/// The numberings of all contexts.
#[repr(C)]
pub struct Numberings {
    /// Number of PEs of the context's team, by the low 16 bits of the handle.
    sizes: [AtomicU32; 1 << 16],
    /// By the context's number. A record is as long as the sizes between two handles, so that one
    /// index with one scale serves for both.
    records: [Record; CONTEXTS],
}

const _: () = assert!(size_of::<Record>() == size_of::<AtomicU32>() << NUMBER_AT);

impl Numberings {
    #[allow(clippy::new_without_default)] // A default context is something else.
    /// No contexts.
    pub const fn new() -> Self {
        Self {
            sizes: [const { AtomicU32::new(0) }; 1 << 16],
            records: [const { Record { start: AtomicU32::new(0), stride: AtomicU32::new(0) } };
                CONTEXTS],
        }
    }

    /// Continues with the world number of PE `pe` of the context's team, or with `out` if
    /// there is no such PE or no such context.
    #[inline(always)]
    pub fn world<R>(
        &self,
        handle: usize,
        pe: PeArg,
        ok: impl FnOnce(usize) -> R,
        out: impl FnOnce() -> R,
    ) -> R {
        const TO_RECORD: usize = std::mem::offset_of!(Numberings, records) / 4 - TAG;
        let mut index = handle as u16 as usize;
        // Keeps the compiler from computing the index twice, once for each use.
        // SAFETY: no instruction is executed.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) index, options(pure, nomem, nostack, preserves_flags));
        }
        let place = (&raw const *self).cast::<u32>().wrapping_add(index);
        // SAFETY: there is a size for every 16-bit number. It is written when a context is created
        // or destroyed, and the specification forbids the use of a context concurrently with
        // either. A plain read, because the compiler makes it an operand of the comparison.
        let size = unsafe { place.read() };
        // Use it as an `int`: the upper half of the register is unspecified.
        let pe = pe as u32;
        if pe >= size {
            return out();
        }
        // SAFETY: only handles of contexts have a size, so these 16 bits are the low ones of a
        // handle: the context's number times 16, plus the tag. Nobody changes the record of a
        // context that exists.
        let (start, stride) = unsafe {
            let record = &*place.add(TO_RECORD).cast::<Record>();
            (record.start.as_ptr(), *record.stride.as_ptr())
        };
        // SAFETY: a context's record, which the specification lets nobody change meanwhile.
        ok(pe.wrapping_mul(stride).wrapping_add(unsafe { *start }) as usize)
    }

    /// Whether these are the low bits of an existing context's handle.
    #[inline(always)]
    pub fn has(&self, handle: usize) -> bool {
        self.sizes[handle as u16 as usize].load(Ordering::Relaxed) != 0
    }

    /// Number of PEs of the context with that number; 0 if there is none.
    pub fn size(&self, number: usize) -> usize {
        self.sizes[handle(number)].load(Ordering::Acquire) as usize
    }

    /// World number of PE `pe` of an existing context.
    pub fn member(&self, number: usize, pe: usize) -> usize {
        let Record { start, stride } = &self.records[number];
        let offset = (pe as u32).wrapping_mul(stride.load(Ordering::Relaxed));
        start.load(Ordering::Relaxed).wrapping_add(offset) as usize
    }

    /// Adds a context of the PEs `start + i * stride`, `i < size`.
    pub fn set(&self, number: usize, start: usize, stride: usize, size: usize) {
        let record = &self.records[number];
        record.start.store(start as u32, Ordering::Relaxed);
        record.stride.store(stride as u32, Ordering::Relaxed);
        self.sizes[handle(number)].store(size as u32, Ordering::Release);
    }

    /// Removes a context.
    pub fn clear(&self, number: usize) {
        self.sizes[handle(number)].store(0, Ordering::Relaxed);
    }
}

/// The handle of the context with that number.
pub const fn handle(number: usize) -> usize {
    number << NUMBER_AT | TAG
}

/// The number in a handle, if the handle has a valid form.
pub fn number(given: usize) -> Option<usize> {
    let number = given >> NUMBER_AT;
    (handle(number) == given && (1..CONTEXTS).contains(&number)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_of_contexts_lead_anywhere() {
        let numberings = Box::new(Numberings::new());
        numberings.set(1, 0, 1, 4);
        numberings.set(4095, 9, 2usize.wrapping_neg(), 3);
        let world = |handle, pe| numberings.world(handle, pe, Some, || None);
        for value in (0..1 << 17).chain([usize::MAX, 0x7fff_dead_bee0, 1 << 63]) {
            let expected = match number(value) {
                Some(1) => (0, 3),
                Some(4095) => (9, 5),
                None if [handle(1), handle(4095)].contains(&(value & 0xffff)) => continue,
                _ => {
                    assert_eq!(world(value, 0), None, "{value:#x}");
                    continue;
                }
            };
            let last = numberings.size(number(value).unwrap()) - 1;
            assert_eq!((world(value, 0), world(value, last)), (Some(expected.0), Some(expected.1)));
            assert_eq!(world(value, last + 1), None);
            assert_eq!(world(value, (-1i32) as usize), None);
            // Garbage above the `int`.
            assert_eq!(world(value, 0x1234 << 32), Some(expected.0));
            assert_eq!(numberings.member(number(value).unwrap(), last), expected.1);
        }
        numberings.clear(1);
        assert_eq!(world(handle(1), 0), None);
    }

    #[test]
    fn handles_and_numbers() {
        for i in 1..CONTEXTS {
            assert_eq!(number(handle(i)), Some(i));
        }
        for garbage in [0, 1, TAG, 0x10, handle(CONTEXTS), handle(1) | 1 << 40, usize::MAX] {
            assert_eq!(number(garbage), None, "{garbage:#x}");
        }
    }
}
