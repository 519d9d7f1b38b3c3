//! Scans: member `i` gets the sum of the sources of members `0..=i` (inclusive), or of `0..i`
//! (exclusive; member 0 gets zeros). The order in which elements are combined depends only on the
//! algorithm, the number of members and, with `two_level`, their nodes.

pub mod direct;
pub mod linear;
pub mod recursive_doubling;
pub mod small;
pub mod two_level;

use super::algorithm::{ANY, SMALL, algorithms};
use super::range::{Readable, Writable};
use super::reduce::Kernel;

/// A call of scan. The memory is this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'m> {
    /// Where the sums go; may be the source.
    pub dest: Writable<'m>,
    /// This PE's summands.
    pub source: Readable<'m>,
    /// Number of elements.
    pub n: usize,
    /// The elements' type, and the operation that adds them.
    pub kernel: Kernel,
    /// Whether this PE's sums include its own summands.
    pub inclusive: bool,
}

impl Scan<'_> {
    fn bytes(&self) -> usize {
        self.n * self.kernel.bytes()
    }
}

algorithms! {
    /// Algorithms of scans.
    Algorithm of Scan, |group, call: Scan<'m>, degree| {
        /// Each member combines all before it.
        direct, ANY => direct::run(group, call);
        /// One after the other.
        linear, ANY => linear::run(group, call);
        /// In rounds, with members twice as far away in each.
        recursive_doubling, ANY => recursive_doubling::run(group, call);
        /// Elements travel beside control words.
        small, SMALL => small::run(group, call);
        /// On each node, with a total from the nodes before.
        two_level, ANY => two_level::run(group, call);
    }
}
