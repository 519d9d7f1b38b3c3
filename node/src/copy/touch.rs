//! Pages made before they are written. Memory that this PE writes for the first time is not in
//! its page table yet, and a fault for every page costs more than the copy. One call for the
//! whole range saves a third of that where another PE has touched the memory before; little
//! where nobody has, because the kernel then spends its time on making pages.
//!
//! Asking costs next to nothing against copying as much, but not each time: it is remembered
//! for which pieces of this PE's address space it was done.

use crate::atomics::{AtomicUsize, Ordering};
use crate::sys::map;

/// Bytes of a piece, and fewest bytes of a copy for which there is a look.
pub(super) const PIECE: usize = 256 << 10;

/// The pieces that were asked for, each at its number modulo the length: of 4 GiB in a row.
static ASKED: [AtomicUsize; 1 << 14] = [const { AtomicUsize::new(0) }; 1 << 14];

/// Notes that a piece is asked for; false if it was before.
pub(super) fn ask(piece: usize) -> bool {
    let entry = &ASKED[piece % ASKED.len()];
    // Not one operation: at worst two threads ask for one piece.
    let new = entry.load(Ordering::Relaxed) != piece;
    if new {
        entry.store(piece, Ordering::Relaxed);
    }
    new
}

/// Has the pages made that `bytes` bytes at `to` will be written to, as far as they are whole
/// pieces and for the first time.
pub(super) fn before_writing(to: usize, bytes: usize) {
    if cfg!(feature = "smartmap") {
        // Kitten makes all pages at once, and has no such call.
        return;
    }
    let end = (to + bytes) / PIECE;
    let mut piece = to.div_ceil(PIECE);
    while piece < end {
        let first = piece;
        while piece < end && ask(piece) {
            piece += 1;
        }
        if first < piece {
            // Where this is not possible (an old kernel, memory from a device), the faults come
            // one by one; and whatever is wrong with the range, the copy finds it too.
            let _ = map::populate(first * PIECE, (piece - first) * PIECE);
        }
        piece += 1;
    }
}
