//! How far the clocks of the hosts are apart, from what PEs have found out by telling each other the time.

use super::ring::Ring;

/// The clocks as PE 0 knows them: by how many nanoseconds each PE's is ahead of its own, at least.
pub struct Clocks {
    /// For each PE.
    pub least: Vec<i64>,
}

impl Clocks {
    /// The hosts of the PEs that these rings are of. `node` gives a PE's node.
    pub fn hosts(&self, rings: &[Option<Ring>], node: impl Fn(usize) -> usize) -> Hosts {
        let most: Vec<_> = rings.iter().map(|ring| ring.as_ref().map(Ring::latest)).collect();
        self.between(&most, node)
    }

    /// The hosts, with what each PE, if it is there, says of the most by which its clock is ahead.
    fn between(&self, most: &[Option<i64>], node: impl Fn(usize) -> usize) -> Hosts {
        let of_pe: Vec<usize> = (0..self.least.len()).map(node).collect();
        let own = of_pe.first().copied();
        let nodes = of_pe.iter().max().map_or(0, |last| last + 1);
        let clocks = (0..nodes).map(|node| {
            // One clock, and the narrowest bounds.
            let pes = || of_pe.iter().enumerate().filter(|(_, of)| **of == node).map(|(pe, _)| pe);
            let least = pes().map(|pe| self.least[pe]).max().unwrap_or(0);
            let most = pes().filter_map(|pe| most[pe]).min().unwrap_or(least);
            let doubt = most.saturating_sub(least).max(0) / 2;
            if own == Some(node) {
                Offset::default()
            } else {
                Offset { ahead: least + doubt, doubt }
            }
        });
        Hosts { clocks: clocks.collect(), of_pe }
    }
}

/// By how many nanoseconds a clock is ahead of PE 0's, and by how many that may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Offset {
    ahead: i64,
    doubt: i64,
}

/// The clocks of the hosts.
pub struct Hosts {
    clocks: Vec<Offset>,
    /// The node of each PE; empty if there is only one.
    of_pe: Vec<usize>,
}

impl Hosts {
    /// One host.
    pub fn one() -> Self {
        Self { clocks: vec![Offset::default()], of_pe: Vec::new() }
    }

    /// PE `pe`'s node, if there are several.
    pub fn node(&self, pe: usize) -> Option<usize> {
        self.of_pe.get(pe).copied()
    }

    fn clock(&self, pe: usize) -> Offset {
        self.clocks[self.node(pe).unwrap_or(0)]
    }

    /// By how much the clock of PE `pe` is ahead of PE 0's.
    pub fn ahead(&self, pe: usize) -> i64 {
        self.clock(pe).ahead
    }

    /// By how much times of two PEs may be wrong, compared with each other.
    pub fn doubt(&self, one: usize, other: usize) -> i64 {
        if self.node(one) == self.node(other) {
            return 0;
        }
        self.clock(one).doubt + self.clock(other).doubt
    }

    /// The most that times of any two PEs may be wrong.
    pub fn most_doubt(&self) -> i64 {
        2 * self.clocks.iter().map(|clock| clock.doubt).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_hosts_narrowest_bounds() {
        let clocks = Clocks { least: vec![-5, -7, -1000, -990] };
        let hosts = clocks.between(&[Some(5), Some(8), Some(-960), Some(-900)], |pe| pe / 2);
        assert_eq!([0, 1, 2, 3].map(|pe| hosts.ahead(pe)), [0, 0, -975, -975]);
        assert_eq!((hosts.doubt(0, 1), hosts.doubt(0, 2), hosts.doubt(2, 3)), (0, 15, 0));
        assert_eq!(hosts.node(3), Some(1));
        let one = Hosts::one();
        assert_eq!((one.node(3), one.ahead(3), one.doubt(0, 3)), (None, 0, 0));
    }
}
