//! Collect and fcollect: the concatenation, in the members' order, of all sources. The
//! algorithms are the same for both, over [`Parts`]; some need parts of one length.

pub mod bruck;
pub mod direct;
pub mod linear;
pub mod neighbour;
mod parts;
pub mod recursive_doubling;
pub mod ring;
pub mod small;
pub mod two_level;

pub use parts::{Collect, Parts, Whole};

use super::algorithm::{ANY, EVEN, POWER_OF_TWO, SMALL, algorithms};

algorithms! {
    /// Algorithms of collect.
    Algorithm of Collect, |group, call: Collect<'m>, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, &call);
        /// One gathers, all copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::in_place(group, &call);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::run(group, &call);
    }
}

algorithms! {
    /// Algorithms of fcollect, whose parts have one length.
    EqualAlgorithm of Fcollect, |group, call: Collect<'m>, degree| {
        /// All copy from all.
        direct, ANY => direct::run(group, &call);
        /// One gathers, all copy from it.
        linear, ANY => linear::run(group, &call);
        /// On a ring.
        ring, ANY => ring::run(group, &call);
        /// Partners exchange twice as much in each round.
        recursive_doubling, POWER_OF_TWO => recursive_doubling::run(group, &call);
        /// Bruck's algorithm.
        bruck, ANY => bruck::rotated(group, &call);
        /// Bruck's algorithm, with parts put to their places at once.
        bruck_no_rotation, ANY => bruck::in_place(group, &call);
        /// Neighbours exchange what they have got last.
        neighbour_exchange, EVEN => neighbour::run(group, &call);
        /// Parts travel beside control words.
        small, SMALL => small::run(group, &call);
        /// Within each node, and among the first of each.
        two_level, ANY => two_level::run(group, &call);
    }
}
