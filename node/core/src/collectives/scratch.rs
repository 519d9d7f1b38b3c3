//! Private memory that an algorithm needs during a call.

use super::range::Writable;
use std::cell::Cell;
use std::mem::take;

/// Alignment in bytes, which suffices for any element.
const ALIGN: usize = 64;

type Memory = Vec<u64>;

/// How many arrays a thread keeps from call to call, and how large they may be. The system's
/// allocator returns large arrays to the system, and the page faults of a new one take longer than
/// a reduction of as many bytes.
const KEPT: usize = 3;
const LARGEST: usize = 8 << 20;

thread_local! {
    static IDLE: Cell<Vec<Memory>> = const { Cell::new(Vec::new()) };
}

/// Scratch memory, aligned for any element. It holds whatever the thread's last collectives left
/// there.
pub struct Scratch {
    memory: Memory,
    bytes: usize,
}

impl Scratch {
    /// Allocates `bytes` bytes. Ends the program if there is no memory.
    pub fn new(bytes: usize) -> Self {
        let words = bytes.div_ceil(size_of::<u64>()) + ALIGN / size_of::<u64>() - 1;
        // Zeros cost nothing in large arrays: the system supplies zeroed pages.
        let memory = Self::idle(words).unwrap_or_else(|| vec![0; words]);
        Self { memory, bytes }
    }

    /// All of its bytes.
    pub fn all(&mut self) -> Writable<'_> {
        let skip = self.memory.as_ptr().align_offset(ALIGN);
        Writable::from(&mut self.memory[skip..]).part(0, self.bytes)
    }

    /// Takes a kept array that is long enough.
    fn idle(words: usize) -> Option<Memory> {
        let mut idle = IDLE.take();
        let found = idle.iter().position(|memory| memory.len() >= words);
        let memory = found.map(|at| idle.swap_remove(at));
        IDLE.set(idle);
        memory
    }
}

impl Drop for Scratch {
    /// Keeps the memory for later calls. If that makes too many arrays, frees the shortest.
    fn drop(&mut self) {
        let memory = take(&mut self.memory);
        if size_of_val(&*memory) > LARGEST {
            return;
        }
        // On an error, the thread is ending and keeps nothing.
        let _ = IDLE.try_with(|idle| {
            let mut all = idle.take();
            all.push(memory);
            if all.len() > KEPT {
                all.sort_unstable_by_key(|memory| std::cmp::Reverse(memory.len()));
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
        let [mut one, mut two] = [(); 2].map(|()| Scratch::new(100_000));
        let before = [one.all().at(), two.all().at()];
        assert_ne!(before[0], before[1]);
        drop((one, two));
        let mut again = [Scratch::new(100_000), Scratch::new(99_999)];
        let after = again.each_mut().map(|scratch| scratch.all().at());
        assert!(after.iter().all(|at| before.contains(at)));
        assert_ne!(after[0], after[1]);
        assert!(after.iter().all(|at| at.addr() % ALIGN == 0));
        assert_eq!(again.each_mut().map(|scratch| scratch.all().bytes()), [100_000, 99_999]);
    }

    #[test]
    fn neither_many_nor_huge_arrays_are_kept() {
        drop([1, 2, 3, 4, 5].map(|n| Scratch::new(n << 16)));
        drop(Scratch::new(LARGEST + 1));
        let mut kept: Vec<usize> =
            IDLE.take().iter().map(|memory| size_of_val(&**memory)).collect();
        kept.sort_unstable();
        assert_eq!(kept, [3, 4, 5].map(|n| (n << 16) + ALIGN - size_of::<u64>()));
    }
}
