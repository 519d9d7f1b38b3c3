//! A picture of the machine that shows which PEs are bound where.

use super::binding::Binding;
use oneshmem_tools::topology::{Cpu, Topology};
use std::fmt::Write;

/// How many cores stand in a line.
const IN_LINE: usize = 8;

/// Draws sockets and NUMA nodes, in brackets their last-level caches, between bars the cores, and for
/// each hardware thread the PEs that are bound to it. `bindings` are those of PE `first` and following
/// ones. `None` if no PE is bound.
pub fn draw(topology: &Topology, bindings: &[Binding], first: usize) -> Option<String> {
    if bindings.iter().all(Vec::is_empty) {
        return None;
    }
    let mut picture = String::from(
        "PEs of the hardware threads ([] is a last-level cache, | is between cores, . is no PE):",
    );
    let cells = topology.cpus().iter().map(|cpu| cell(bindings, first, cpu.id));
    let width = cells.map(|cell| cell.len()).max().unwrap_or(1);
    for place in topology.cpus().chunk_by(|a, b| (a.node, a.package) == (b.node, b.package)) {
        let _ = write!(picture, "\n  socket {}, NUMA node {}", place[0].package, place[0].node);
        for cache in place.chunk_by(|a, b| a.cache == b.cache) {
            let cores: Vec<&[Cpu]> = cache.chunk_by(|a, b| a.first == b.first).collect();
            let core = |core: &&[Cpu]| {
                let threads = core.iter().map(|cpu| cell(bindings, first, cpu.id));
                threads.map(|cell| format!("{cell:>width$}")).collect::<Vec<_>>().join(" ")
            };
            let lines = cores
                .chunks(IN_LINE)
                .map(|line| line.iter().map(core).collect::<Vec<_>>().join("|"));
            let _ = write!(picture, "\n    [{}]", lines.collect::<Vec<_>>().join("|\n     "));
        }
    }
    Some(picture)
}

/// The PEs that are bound to a hardware thread: all of them if there are one or two, otherwise the first
/// and how many others.
fn cell(bindings: &[Binding], first: usize, cpu: usize) -> String {
    let pes: Vec<usize> = (first..)
        .zip(bindings)
        .filter(|(_, binding)| binding.contains(&cpu))
        .map(|(pe, _)| pe)
        .collect();
    match pes[..] {
        [] => ".".into(),
        [one] => one.to_string(),
        [one, two] => format!("{one},{two}"),
        [one, ..] => format!("{one}+{}", pes.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages, each one NUMA node and one cache of two cores of two threads.
    fn machine() -> Topology {
        Topology::from_cpus((0..8).map(|id| Cpu {
            node: id % 4 / 2,
            package: id % 4 / 2,
            cache: id % 4 / 2 * 2,
            core: id % 2,
            first: id % 4,
            slowness: 0,
            id,
        }))
    }

    fn drawn(bindings: &[Binding], first: usize) -> Vec<String> {
        let picture = draw(&machine(), bindings, first).unwrap();
        picture.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn each_hardware_thread_shows_its_pes() {
        assert_eq!(
            drawn(&[vec![0, 4], vec![1]], 0),
            [
                "  socket 0, NUMA node 0",
                "    [0 0|1 .]",
                "  socket 1, NUMA node 1",
                "    [. .|. .]"
            ]
        );
        let crowd = [vec![0], vec![0, 4], vec![0, 4], vec![]];
        assert_eq!(drawn(&crowd, 9)[1], "    [  9+2 10,11|    .     .]");
        assert_eq!(draw(&machine(), &[vec![], vec![]], 0), None);
    }

    #[test]
    fn many_cores_take_several_lines() {
        let cpus = (0..10).map(|id| Cpu {
            node: 0,
            package: 0,
            slowness: 0,
            cache: 0,
            core: id,
            first: id,
            id,
        });
        let picture = draw(&Topology::from_cpus(cpus), &[vec![9]], 0).unwrap();
        assert!(picture.ends_with("\n    [.|.|.|.|.|.|.|.|\n     .|0]"), "{picture}");
    }
}
