//! The CPUs that this process may use, with their cores and NUMA nodes, as the kernel describes
//! them under `/sys`.

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
pub use onenode_core::sys::lists;
use std::fs;
use std::io;
use std::path::Path;

/// One CPU (hardware thread).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpu {
    /// Its NUMA node.
    pub node: usize,
    /// Its package (socket).
    pub package: usize,
    /// Its last-level cache: the lowest number among the CPUs that share it.
    pub cache: usize,
    /// Its core's number within the package.
    pub core: usize,
    /// Its own number.
    pub id: usize,
}

/// The usable CPUs, sorted by node, package, cache, core and number.
#[derive(Debug)]
pub struct Topology {
    cpus: Vec<Cpu>,
}

impl Topology {
    /// The topology of this machine, restricted to the CPUs on which this process may run.
    pub fn usable() -> io::Result<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0))?;
        let ids = (0..CpuSet::count()).filter(|id| allowed.is_set(*id).unwrap_or(false));
        Ok(Self::read(Path::new("/sys/devices/system"), ids))
    }

    /// Reads a tree like `/sys/devices/system`. Where a (virtual) machine gives no information,
    /// assumes one node, one package, one cache, and a core for each CPU.
    fn read(root: &Path, ids: impl Iterator<Item = usize>) -> Self {
        let nodes = nodes(root);
        Self::from_cpus(ids.map(|id| {
            let topology = root.join(format!("cpu/cpu{id}/topology"));
            let number =
                |name| fs::read_to_string(topology.join(name)).ok()?.trim().parse::<usize>().ok();
            let node =
                nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(node, _)| *node);
            Cpu {
                node,
                package: number("physical_package_id").unwrap_or(0),
                cache: cache(root, id).unwrap_or(0),
                core: number("core_id").unwrap_or(id),
                id,
            }
        }))
    }

    /// A machine with these CPUs.
    pub fn from_cpus(cpus: impl Iterator<Item = Cpu>) -> Self {
        let mut cpus: Vec<Cpu> = cpus.collect();
        cpus.sort();
        Self { cpus }
    }

    /// The CPUs.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// Restricts it to these CPUs. The error says which of them are not usable, and which CPUs are.
    pub fn only(mut self, ids: &[usize]) -> Result<Self, String> {
        let usable = numbers(&self.cpus);
        let missing: Vec<usize> = ids.iter().copied().filter(|id| !usable.contains(id)).collect();
        if !missing.is_empty() {
            let s = |numbers: &[usize]| if numbers.len() == 1 { "" } else { "s" };
            return Err(format!(
                "oshrun may not use CPU{} {}; it may use CPU{} {}",
                s(&missing),
                list(&missing),
                s(&usable),
                list(&usable)
            ));
        }
        self.cpus.retain(|cpu| ids.contains(&cpu.id));
        Ok(self)
    }

    /// The CPUs grouped by core.
    pub fn cores(&self) -> Vec<&[Cpu]> {
        let core = |cpu: &Cpu| (cpu.node, cpu.package, cpu.core);
        self.cpus.chunk_by(|a, b| core(a) == core(b)).collect()
    }

    /// The CPUs grouped by NUMA node.
    pub fn nodes(&self) -> Vec<&[Cpu]> {
        self.cpus.chunk_by(|a, b| a.node == b.node).collect()
    }
}

/// The numbers of these CPUs, sorted.
pub fn numbers(cpus: &[Cpu]) -> Vec<usize> {
    let mut numbers: Vec<_> = cpus.iter().map(|cpu| cpu.id).collect();
    numbers.sort_unstable();
    numbers
}

/// The lowest number among the CPUs that share a CPU's level-3 cache.
fn cache(root: &Path, id: usize) -> Option<usize> {
    let caches = fs::read_dir(root.join(format!("cpu/cpu{id}/cache"))).ok()?;
    let shared = caches.flatten().map(|entry| entry.path()).find_map(|cache| {
        let level = fs::read_to_string(cache.join("level")).ok()?;
        let list = fs::read_to_string(cache.join("shared_cpu_list")).ok()?;
        (level.trim() == "3").then(|| lists::of_file(&list))?
    });
    shared?.into_iter().min()
}

/// NUMA nodes with their CPUs.
fn nodes(root: &Path) -> Vec<(usize, Vec<usize>)> {
    let Ok(entries) = fs::read_dir(root.join("node")) else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let node = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            let list = fs::read_to_string(entry.path().join("cpulist")).ok()?;
            Some((node, lists::of_file(&list)?))
        })
        .collect()
}

/// Formats a list of sorted numbers as the kernel does.
pub fn list(numbers: &[usize]) -> String {
    let ranges = numbers.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
        [one] => one.to_string(),
        _ => format!("{}-{}", range[0], range[range.len() - 1]),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for (text, numbers) in
            [("0", vec![0]), ("0-3,8,10-11", vec![0, 1, 2, 3, 8, 10, 11]), ("", vec![])]
        {
            assert_eq!(lists::of_file(&format!("{text}\n")), Some(numbers.clone()));
            assert_eq!(list(&numbers), text);
        }
        assert_eq!(lists::of_file("0-x"), None);
    }

    /// Two nodes of two cores of two threads, numbered as firmware does it: the first threads of
    /// all cores come first.
    #[test]
    fn a_tree_is_read() {
        let root = std::env::temp_dir().join(format!("topology-test-{}", std::process::id()));
        for id in 0..8 {
            let at = root.join(format!("cpu/cpu{id}/topology"));
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("physical_package_id"), format!("{}\n", id % 4 / 2)).unwrap();
            fs::write(at.join("core_id"), format!("{}\n", id % 2)).unwrap();
            for (index, level, shared) in [(0, 1, id % 4), (3, 3, id % 4 / 2 * 2)] {
                let at = root.join(format!("cpu/cpu{id}/cache/index{index}"));
                fs::create_dir_all(&at).unwrap();
                fs::write(at.join("level"), format!("{level}\n")).unwrap();
                fs::write(at.join("shared_cpu_list"), format!("{shared},{}\n", shared + 4))
                    .unwrap();
            }
        }
        for (node, list) in ["0-1,4-5\n", "2-3,6-7\n"].iter().enumerate() {
            let at = root.join(format!("node/node{node}"));
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("cpulist"), list).unwrap();
        }
        let topology = Topology::read(&root, (0..8).filter(|id| *id != 7));
        fs::remove_dir_all(&root).unwrap();

        let ids = |cpus: &[Cpu]| cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>();
        let cores: Vec<_> = topology.cores().into_iter().map(ids).collect();
        assert_eq!(cores, [vec![0, 4], vec![1, 5], vec![2, 6], vec![3]]);
        let nodes: Vec<_> = topology.nodes().into_iter().map(ids).collect();
        assert_eq!(nodes, [vec![0, 4, 1, 5], vec![2, 6, 3]]);
        assert!(topology.cpus().iter().all(|cpu| cpu.cache == cpu.id % 4 / 2 * 2));
    }

    #[test]
    fn this_machine_has_a_cpu() {
        let topology = Topology::usable().unwrap();
        assert!(!topology.cpus().is_empty());
        assert_eq!(topology.cores().concat().len(), topology.cpus().len());
    }
}
