//! Populates pages before they are written. Memory that this PE writes for the first time is not in
//! its page table yet, and a fault for every page costs more than the copy. One call for the whole
//! range saves a third of that cost where another PE has touched the memory before, and little
//! where nobody has, because then the kernel spends its time allocating pages.
//!
//! The call costs next to nothing compared with copying as much, but is not repeated: a table
//! records the pieces of this PE's address space for which it was made.

use crate::atomics::{AtomicUsize, Ordering};
use crate::sys::map;

/// Bytes of a piece, and the smallest copy that is considered.
pub(super) const PIECE: usize = 256 << 10;

/// The pieces that were populated, each at its number modulo the length: 4 GiB in a row.
static ASKED: [AtomicUsize; 1 << 14] = [const { AtomicUsize::new(0) }; 1 << 14];

/// Records that a piece is populated. Returns false if it was before.
pub(super) fn ask(piece: usize) -> bool {
    let entry = &ASKED[piece % ASKED.len()];
    // Not one atomic operation: at worst two threads populate the same piece.
    let new = entry.load(Ordering::Relaxed) != piece;
    if new {
        entry.store(piece, Ordering::Relaxed);
    }
    new
}

/// Populates the pages of the `bytes` bytes at `to` that will be written: whole pieces only, and
/// each once.
pub(super) fn before_writing(to: usize, bytes: usize) {
    if cfg!(feature = "smartmap") {
        // Kitten allocates all pages at once and has no such call.
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
            // Where this is not possible (an old kernel, memory from a device), the faults come one
            // by one. Any error in the range shows up in the copy as well.
            let _ = map::populate(first * PIECE, (piece - first) * PIECE);
        }
        piece += 1;
    }
}
