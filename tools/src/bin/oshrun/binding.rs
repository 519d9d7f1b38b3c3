//! Which CPUs each PE runs on.

use super::options::{Bind, Map};
use oneshmem_tools::topology::{Cpu, Topology, list};

/// The CPUs of one PE, sorted; empty if it is not bound.
pub type Binding = Vec<usize>;

/// Gives `npes` PEs their CPUs. When there are more PEs than places, the places
/// are gone through again.
pub fn plan(topology: &Topology, bind: Bind, map: Map, npes: usize) -> Vec<Binding> {
    let places = match bind {
        Bind::None => vec![Vec::new()],
        Bind::Core => cores(topology, map).into_iter().map(numbers).collect(),
        Bind::HwThread => hwthreads(&cores(topology, map)),
    };
    places.into_iter().cycle().take(npes).collect()
}

fn numbers(cpus: &[Cpu]) -> Binding {
    let mut numbers: Vec<_> = cpus.iter().map(|cpu| cpu.id).collect();
    numbers.sort_unstable();
    numbers
}

/// The cores in the order PEs are given to them.
fn cores(topology: &Topology, map: Map) -> Vec<&[Cpu]> {
    let cores = topology.cores();
    match map {
        Map::Core => cores,
        Map::Numa => {
            let nodes: Vec<_> = cores.chunk_by(|a, b| a[0].node == b[0].node).collect();
            in_turn(&nodes)
        }
    }
}

/// Hardware threads, so that a core is shared only when all cores have a PE.
fn hwthreads(cores: &[&[Cpu]]) -> Vec<Binding> {
    in_turn(cores).into_iter().map(|cpu| vec![cpu.id]).collect()
}

/// The first of each group, then the second of each, and so on.
fn in_turn<T: Copy>(groups: &[impl AsRef<[T]>]) -> Vec<T> {
    let longest = groups.iter().map(|group| group.as_ref().len()).max().unwrap_or(0);
    (0..longest)
        .flat_map(|i| groups.iter().filter_map(move |group| group.as_ref().get(i).copied()))
        .collect()
}

/// A binding in words.
pub fn describe(topology: &Topology, binding: &Binding) -> String {
    if binding.is_empty() {
        return "not bound".into();
    }
    let cpus: Vec<_> = topology.cpus().iter().filter(|cpu| binding.contains(&cpu.id)).collect();
    let plural = if binding.len() == 1 { "" } else { "s" };
    match cpus.first() {
        Some(cpu) => format!(
            "bound to hardware thread{plural} {} (core {}, package {}, NUMA node {})",
            list(binding),
            cpu.core,
            cpu.package,
            cpu.node
        ),
        None => format!("bound to hardware thread{plural} {}", list(binding)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores of two threads: CPU = thread * 4 + node * 2 + core.
    fn machine() -> Topology {
        Topology::from_cpus((0..8).map(|id| Cpu {
            node: id % 4 / 2,
            package: id % 4 / 2,
            core: id % 2,
            id,
        }))
    }

    #[test]
    fn places_are_given_in_order_and_again() {
        let topology = machine();
        let cores = |map| plan(&topology, Bind::Core, map, 5);
        assert_eq!(cores(Map::Core), [[0, 4], [1, 5], [2, 6], [3, 7], [0, 4]]);
        assert_eq!(cores(Map::Numa), [[0, 4], [2, 6], [1, 5], [3, 7], [0, 4]]);
        let threads = |map| plan(&topology, Bind::HwThread, map, 9).concat();
        assert_eq!(threads(Map::Core), [0, 1, 2, 3, 4, 5, 6, 7, 0]);
        assert_eq!(threads(Map::Numa), [0, 2, 1, 3, 4, 6, 5, 7, 0]);
        assert_eq!(plan(&topology, Bind::None, Map::Core, 2), [vec![], vec![]]);
    }

    #[test]
    fn a_binding_in_words() {
        let topology = machine();
        assert_eq!(describe(&topology, &vec![]), "not bound");
        assert_eq!(
            describe(&topology, &vec![3, 7]),
            "bound to hardware threads 3,7 (core 1, package 1, NUMA node 1)"
        );
    }
}
