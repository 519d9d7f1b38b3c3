//! The two directions of a transfer. What a put and a get have in common is written once, over the side
//! on the other PE (`there`) and the side of this PE (`here`).
#![allow(unsafe_code)]

use crate::engine::{Completion, Engine, Far, StridedBlocks};
use crate::slow::{self, Access};

/// [`Put`] or [`Get`].
pub trait Direction {
    /// The class of the operation, and the name of the argument that is on the other PE.
    const ACCESS: &'static Access;
    /// The name of the argument that is here.
    const HERE: &'static str;

    /// Makes of a destination and a source the sides there and here, and of these the former again.
    fn turn<A>(sides: (A, A)) -> (A, A);

    /// Transfers to or from another node.
    ///
    /// # Safety
    /// Until the transfer is over, `here` is readable for `bytes` bytes in a put, writable in a get.
    unsafe fn far(
        engine: &dyn Engine,
        there: Far,
        here: *mut u8,
        bytes: usize,
        completion: Completion,
    );

    /// Transfers blocks to or from another node.
    ///
    /// # Safety
    /// The blocks from `here` on are readable in a put, writable in a get.
    unsafe fn far_blocks(engine: &dyn Engine, there: Far, here: *mut u8, blocks: StridedBlocks);
}

/// From this PE to another.
pub enum Put {}

impl Direction for Put {
    const ACCESS: &'static Access = &slow::PUT;
    const HERE: &'static str = "source";

    #[inline(always)]
    fn turn<A>((dest, source): (A, A)) -> (A, A) {
        (dest, source)
    }

    unsafe fn far(
        engine: &dyn Engine,
        there: Far,
        here: *mut u8,
        bytes: usize,
        completion: Completion,
    ) {
        // SAFETY: the caller guarantees that `here` is readable until the transfer is over.
        unsafe { engine.put(there, here, bytes, completion) }
    }

    unsafe fn far_blocks(engine: &dyn Engine, there: Far, here: *mut u8, blocks: StridedBlocks) {
        // SAFETY: the caller guarantees that the blocks are readable.
        unsafe { engine.put_blocks(there, here, blocks) }
    }
}

/// From another PE to this one.
pub enum Get {}

impl Direction for Get {
    const ACCESS: &'static Access = &slow::GET;
    const HERE: &'static str = "dest";

    #[inline(always)]
    fn turn<A>((one, other): (A, A)) -> (A, A) {
        (other, one)
    }

    unsafe fn far(
        engine: &dyn Engine,
        there: Far,
        here: *mut u8,
        bytes: usize,
        completion: Completion,
    ) {
        // SAFETY: the caller guarantees that `here` is writable until the transfer is over.
        unsafe { engine.get(here, there, bytes, completion) }
    }

    unsafe fn far_blocks(engine: &dyn Engine, there: Far, here: *mut u8, blocks: StridedBlocks) {
        // SAFETY: the caller guarantees that the blocks are writable.
        unsafe { engine.get_blocks(here, there, blocks) }
    }
}
