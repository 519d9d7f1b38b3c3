//! Collect and fcollect: the concatenation of all sources, in the members' order. Both use the same
//! algorithms, over [`Parts`]; some need parts of equal length.

pub mod bruck;
pub mod direct;
pub mod linear;
pub mod neighbour;
mod parts;
pub mod recursive_doubling;
pub mod ring;
pub mod small;
pub mod two_level;

pub use parts::{Collect, CollectResult, Parts};

use super::algorithm::{ANY, EVEN, POWER_OF_TWO, SMALL, algorithms};

algorithms! {
    /// Algorithms of collect.
    Algorithm of Collect, |group, call: Collect<'m>, degree| {
        /// All members copy from all.
        direct, ANY => direct::run(group, &call);
        /// One member gathers, the others copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::in_place(group, &call);
        /// Within each node, and among the first member of each.
        two_level, ANY => two_level::run(group, &call);
    }
}

algorithms! {
    /// Algorithms of fcollect, whose parts have equal length.
    EqualAlgorithm of Fcollect, |group, call: Collect<'m>, degree| {
        /// All members copy from all.
        direct, ANY => direct::run(group, &call);
        /// One member gathers, the others copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::rotated(group, &call);
        /// Bruck's algorithm, with each part copied to its place at once.
        bruck_no_rotation, ANY => bruck::in_place(group, &call);
        /// Neighbours exchange the parts that they received last.
        neighbour_exchange, EVEN => neighbour::run(group, &call);
        /// Parts travel beside control words.
        small, SMALL => small::run(group, &call);
        /// Within each node, and among the first member of each.
        two_level, ANY => two_level::run(group, &call);
    }
}
