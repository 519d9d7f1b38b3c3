//! The plan of a measurement: numbers of PEs, and for each of them points: operation, bytes, algorithm.

use anyhow::Context;
use oneshmem::internals::collectives::select::Operation;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_tools::topology::Topology;

/// One algorithm of one operation at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Index of the operation in [`Operation::ALL`].
    pub operation: usize,
    /// Bytes of one PE's contribution; of one block, if it has one for each PE.
    pub bytes: usize,
    /// Index of the algorithm in [`Operation::algorithms`].
    pub algorithm: usize,
}

impl Point {
    /// The operation.
    pub fn operation(self) -> Operation {
        Operation::ALL[self.operation]
    }

    /// The algorithm's name.
    pub fn name(self) -> &'static str {
        self.operation().algorithms()[self.algorithm]
    }
}

const SIZES: [usize; 9] = [8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// The most bytes of all blocks of one PE, in operations that have a block for each PE.
const MOST_IN_BLOCKS: usize = 4 << 20;

/// Whether a PE has a block for each PE, in its source or its dest.
pub fn in_blocks(operation: Operation) -> bool {
    use Operation::{Alltoall, Alltoalls, Collect, Fcollect};
    matches!(operation, Collect | Fcollect | Alltoall | Alltoalls)
}

/// The sizes of an operation's points, ascending; 0 for a barrier.
pub fn sizes(operation: Operation, pes: usize) -> impl Iterator<Item = usize> {
    let blocks = if in_blocks(operation) { pes } else { 1 };
    let fits = move |size: &usize| *size == SIZES[0] || size * blocks <= MOST_IN_BLOCKS;
    let list: &[usize] = if operation == Operation::Barrier { &[0] } else { &SIZES };
    list.iter().copied().filter(fits)
}

/// All points for `pes` PEs, with those to be compared next to each other. The list is the same in
/// every process.
pub fn points(pes: usize) -> Vec<Point> {
    let mut list = Vec::new();
    for (index, operation) in Operation::ALL.into_iter().enumerate() {
        for bytes in sizes(operation, pes) {
            list.extend(
                (1..operation.algorithms().len())
                    .filter(|&algorithm| operation.serves(algorithm, pes, bytes).is_ok())
                    .map(|algorithm| Point { operation: index, bytes, algorithm }),
            );
        }
    }
    list
}

/// The numbers of PEs to measure on this machine.
pub fn numbers_of_pes() -> anyhow::Result<Vec<usize>> {
    let topology = Topology::usable().context("cannot find out which CPUs may be used")?;
    Ok(suitable(topology.cpus().len()))
}

/// The numbers of PEs to measure over several hosts, each with as many CPUs as this machine: a
/// multiple of the number of hosts.
pub fn numbers_over_hosts(hosts: usize) -> anyhow::Result<Vec<usize>> {
    let topology = Topology::usable().context("cannot find out which CPUs may be used")?;
    Ok(multiples(hosts, topology.cpus().len()))
}

/// One PE on each host, two, and so on in powers of two up to the number of CPUs; that number, too.
fn multiples(hosts: usize, cpus: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |pes| Some(pes * 2)).take_while(|pes| *pes < cpus);
    powers.chain([cpus]).map(|pes| pes * hosts).filter(|pes| *pes <= MAX_PES).collect()
}

/// Powers of two up to the number of CPUs, that number itself, then two and four times as many if
/// that is not too crowded.
fn suitable(cpus: usize) -> Vec<usize> {
    const CROWD: usize = 16;
    let powers = std::iter::successors(Some(2), |pes| Some(pes * 2)).take_while(|pes| *pes <= cpus);
    let more = [2 * cpus, 4 * cpus].into_iter().filter(|pes| *pes <= CROWD);
    let mut list: Vec<usize> = powers.chain([cpus]).chain(more).filter(|pes| *pes >= 2).collect();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pes_follow_the_cpus() {
        assert_eq!(suitable(1), [2, 4]);
        assert_eq!(suitable(2), [2, 4, 8]);
        assert_eq!(suitable(6), [2, 4, 6, 12]);
        assert_eq!(suitable(64), [2, 4, 8, 16, 32, 64]);
    }

    #[test]
    fn hosts_get_equal_numbers_of_pes() {
        assert_eq!(multiples(2, 1), [2]);
        assert_eq!(multiples(3, 2), [3, 6]);
        assert_eq!(multiples(2, 6), [2, 4, 8, 12]);
        assert_eq!(multiples(MAX_PES, 64), [MAX_PES]);
    }

    #[test]
    fn every_algorithm_has_points() {
        let points = points(4);
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            for (algorithm, name) in operation.algorithms().iter().enumerate().skip(1) {
                let found = points.iter().any(|p| p.operation == index && p.algorithm == algorithm);
                assert!(found, "{operation:?} {name}");
            }
        }
    }

    #[test]
    fn only_what_can_serve() {
        assert!(points(6).iter().all(|point| point.name() != "xor"));
        assert!(sizes(Operation::Alltoall, 64).max() <= Some(64 << 10));
        assert_eq!(sizes(Operation::Alltoall, 1 << 20).collect::<Vec<_>>(), [8]);
    }
}
