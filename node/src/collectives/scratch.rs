//! Private memory that an algorithm needs for the length of a call.

use super::range::Writable;
use std::cell::Cell;
use std::mem::take;

/// It begins at a multiple of so many bytes, which suffices for any element.
const ALIGN: usize = 64;

type Memory = Vec<u64>;

/// Arrays that a thread keeps from call to call, and the largest: the system's allocator gives back
/// what is large, and the faults of making it again take longer than a reduction of as many bytes.
const KEPT: usize = 3;
const LARGEST: usize = 8 << 20;

thread_local! {
    static IDLE: Cell<Vec<Memory>> = const { Cell::new(Vec::new()) };
}

/// Some bytes, aligned for any element. In them is what the thread's last collectives have left.
pub struct Scratch {
    memory: Memory,
    bytes: usize,
}

impl Scratch {
    /// So many bytes. Ends the program if there is no memory.
    pub fn new(bytes: usize) -> Self {
        let words = bytes.div_ceil(size_of::<u64>()) + ALIGN / size_of::<u64>() - 1;
        // Zeros of the system's, where they are many: it has them at hand.
        let memory = Self::idle(words).unwrap_or_else(|| vec![0; words]);
        Self { memory, bytes }
    }

    /// All of them.
    pub fn all(&mut self) -> Writable<'_> {
        let skip = self.memory.as_ptr().align_offset(ALIGN);
        Writable::from(&mut self.memory[skip..]).part(0, self.bytes)
    }

    /// One that is long enough, of those kept.
    fn idle(words: usize) -> Option<Memory> {
        let mut idle = IDLE.take();
        let found = idle.iter().position(|memory| memory.len() >= words);
        let memory = found.map(|at| idle.swap_remove(at));
        IDLE.set(idle);
        memory
    }
}

impl Drop for Scratch {
    /// Keeps the memory, in place of the shortest if there is enough.
    fn drop(&mut self) {
        let memory = take(&mut self.memory);
        if size_of_val(&*memory) > LARGEST {
            return;
        }
        // An error: the thread ends, and keeps nothing any more.
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
        assert!(after.iter().all(|at| at.addr().is_multiple_of(ALIGN)));
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
