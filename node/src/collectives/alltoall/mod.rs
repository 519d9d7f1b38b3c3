//! All-to-all, plain and strided: block `l` of member `k`'s source becomes block `k` of
//! member `l`'s dest. The algorithms are the same for both, over [`Blocks`].
#![allow(unsafe_code)]

pub mod coloured;
pub mod direct;
pub mod pairwise;
pub mod shift;
pub mod small;
mod strided;
pub mod xor;

use super::group::Group;
pub use strided::Shape;

/// How blocks lie in the arrays.
#[derive(Clone, Copy, Debug)]
pub enum Blocks {
    /// One after the other, of this many bytes: alltoall.
    Dense(usize),
    /// Of elements some distance apart: alltoalls.
    Strided(Shape),
}

/// A call of all-to-all. The addresses are this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Alltoall {
    /// Where the blocks go.
    pub dest: *mut u8,
    /// Where they come from.
    pub source: *const u8,
    /// What they are.
    pub blocks: Blocks,
}

impl Alltoall {
    /// Copies this PE's block out of `member`'s source.
    ///
    /// # Safety
    /// The member has announced its source, and waits before it reuses it; the rest is
    /// as for the all-to-all.
    unsafe fn take(&self, group: &impl Group, member: usize) {
        let me = group.index();
        let source = group.of("source", self.source, member);
        match self.blocks {
            Blocks::Dense(bytes) => {
                // SAFETY: the caller's promise.
                unsafe { group.copy(source.add(me * bytes), self.dest.add(member * bytes), bytes) }
            }
            Blocks::Strided(shape) => {
                // SAFETY: the caller's promise.
                unsafe {
                    let (from, to) =
                        (shape.source_block(source, me), shape.dest_block(self.dest, member));
                    shape.copy(group, from, to);
                }
            }
        }
    }
}
