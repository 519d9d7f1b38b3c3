//! Private memory that an algorithm needs for the length of a call.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::mem::{MaybeUninit, take};

/// What the memory is made of: 64 bytes suffice to align any element.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code)] [u8; 64]);

type Memory = Vec<MaybeUninit<Line>>;

/// Arrays that a thread keeps from call to call, and the largest: the system's allocator gives back what
/// is large, and the faults of making it again take longer than a reduction of as many bytes.
const KEPT: usize = 3;
const LARGEST: usize = 8 << 20;

thread_local! {
    static IDLE: Cell<Vec<Memory>> = const { Cell::new(Vec::new()) };
}

/// Some bytes, uninitialised, aligned for any element.
pub struct Scratch {
    memory: Memory,
    start: *mut u8,
}

impl Scratch {
    /// At least `bytes` bytes. Ends the program if there is no memory.
    pub fn new(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<Line>());
        let mut memory = Self::idle(lines).unwrap_or_else(|| Vec::with_capacity(lines));
        Self { start: memory.as_mut_ptr().cast(), memory }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// One that is long enough, of those kept.
    fn idle(lines: usize) -> Option<Memory> {
        let mut idle = IDLE.take();
        let found = idle.iter().position(|memory| memory.capacity() >= lines);
        let memory = found.map(|at| idle.swap_remove(at));
        IDLE.set(idle);
        memory
    }
}

impl Drop for Scratch {
    /// Keeps the memory, in place of the shortest if there is enough.
    fn drop(&mut self) {
        let memory = take(&mut self.memory);
        if memory.capacity() * size_of::<Line>() > LARGEST {
            return;
        }
        // An error: the thread ends, and keeps nothing any more.
        let _ = IDLE.try_with(|idle| {
            let mut all = idle.take();
            all.push(memory);
            if all.len() > KEPT {
                all.sort_unstable_by_key(|memory| std::cmp::Reverse(memory.capacity()));
                all.truncate(KEPT);
            }
            idle.set(all);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_from_call_to_call_but_not_handed_out_twice() {
        let (one, two) = (Scratch::new(100_000), Scratch::new(100_000));
        let before = [one.start(), two.start()];
        assert_ne!(before[0], before[1]);
        drop((one, two));
        let again = [Scratch::new(100_000), Scratch::new(99_999)];
        assert!(again.iter().all(|scratch| before.contains(&scratch.start())));
        assert_ne!(again[0].start(), again[1].start());
        assert!(again.iter().all(|scratch| (scratch.start() as usize).is_multiple_of(64)));
    }

    #[test]
    fn neither_many_nor_huge_arrays_are_kept() {
        drop([1, 2, 3, 4, 5].map(|n| Scratch::new(n << 16)));
        drop(Scratch::new(LARGEST + 1));
        let mut kept: Vec<usize> =
            IDLE.take().iter().map(|memory| memory.capacity() * size_of::<Line>()).collect();
        kept.sort_unstable();
        assert_eq!(kept, [3 << 16, 4 << 16, 5 << 16]);
    }
}
