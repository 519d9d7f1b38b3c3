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
    /// How slow its kind of core is, where a machine has several: 0 is the fastest.
    pub slowness: usize,
    /// Its last-level cache: the lowest number among the CPUs that share it.
    pub cache: usize,
    /// Its core's number, as the kernel gives it: cores of a package may have the same one.
    pub core: usize,
    /// Its core: the lowest number among the CPUs that share it.
    pub first: usize,
    /// Its own number.
    pub id: usize,
}

/// The capacity of a machine's fastest CPUs.
const FULL_CAPACITY: usize = 1024;

/// The usable CPUs, sorted by node, package, fastest first, cache, core and number.
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
        let slow = slow(root);
        Self::from_cpus(ids.map(|id| {
            let topology = root.join(format!("cpu/cpu{id}/topology"));
            let number =
                |name| fs::read_to_string(topology.join(name)).ok()?.trim().parse::<usize>().ok();
            // The second name is that of kernels before 5.3.
            let core = ["core_cpus_list", "thread_siblings_list"]
                .iter()
                .find_map(|name| list_in(&topology.join(name)))
                .unwrap_or_default();
            let node =
                nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(node, _)| *node);
            Cpu {
                node,
                package: number("physical_package_id").unwrap_or(0),
                slowness: slow(id),
                cache: cache(root, id, core.len()).unwrap_or(0),
                core: number("core_id").unwrap_or(id),
                first: core.first().copied().unwrap_or(id),
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
        self.cpus.chunk_by(|a, b| a.first == b.first).collect()
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

/// The lowest number among the CPUs that share a CPU's last-level cache. None if that is of a lower level than
/// 3 and a core's own: its core has so many threads.
fn cache(root: &Path, id: usize, threads: usize) -> Option<usize> {
    let caches = fs::read_dir(root.join(format!("cpu/cpu{id}/cache"))).ok()?;
    let (level, last) = caches
        .flatten()
        .filter_map(|entry| {
            let level = fs::read_to_string(entry.path().join("level")).ok()?;
            Some((level.trim().parse::<usize>().ok()?, entry.path()))
        })
        .max()?;
    let shared = list_in(&last.join("shared_cpu_list"))?;
    shared.first().copied().filter(|_| level >= 3 || shared.len() > threads)
}

/// Tells how slow a CPU is: by its capacity in the scheduler's units, where the kernel knows it, else by the
/// kernel's list of a hybrid processor's efficient cores.
fn slow(root: &Path) -> impl Fn(usize) -> usize {
    let capacity = |id: usize| -> Option<usize> {
        let text = fs::read_to_string(root.join(format!("cpu/cpu{id}/cpu_capacity")));
        text.ok()?.trim().parse().ok()
    };
    let efficient = root.parent().and_then(|devices| list_in(&devices.join("cpu_atom/cpus")));
    let efficient = efficient.unwrap_or_default();
    move |id| match capacity(id) {
        Some(capacity) => FULL_CAPACITY.saturating_sub(capacity),
        None => usize::from(efficient.contains(&id)),
    }
}

/// NUMA nodes with their CPUs.
fn nodes(root: &Path) -> Vec<(usize, Vec<usize>)> {
    let Ok(entries) = fs::read_dir(root.join("node")) else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let node = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            Some((node, list_in(&entry.path().join("cpulist"))?))
        })
        .collect()
}

/// The numbers in a file of the kernel.
fn list_in(path: &Path) -> Option<Vec<usize>> {
    lists::of_file(&fs::read_to_string(path).ok()?)
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

    /// A tree like `/sys/devices`, of these files and their contents. `{id}` stands for the CPUs below `cpus`.
    fn tree(name: &str, cpus: usize, files: &[(&str, &dyn Fn(usize) -> String)]) -> Topology {
        let root = std::env::temp_dir().join(format!("topology-{name}-{}", std::process::id()));
        for (file, contents) in files {
            for id in 0..cpus {
                let file = root.join(file.replace("{id}", &id.to_string()));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, contents(id) + "\n").unwrap();
            }
        }
        let topology = Topology::read(&root.join("system"), 0..cpus);
        fs::remove_dir_all(&root).unwrap();
        topology
    }

    fn ids(groups: Vec<&[Cpu]>) -> Vec<Vec<usize>> {
        groups.into_iter().map(|cpus| cpus.iter().map(|cpu| cpu.id).collect()).collect()
    }

    const PACKAGE: &str = "system/cpu/cpu{id}/topology/physical_package_id";
    const CORE: &str = "system/cpu/cpu{id}/topology/core_id";
    const THREADS: &str = "system/cpu/cpu{id}/topology/core_cpus_list";

    /// Two nodes of two cores of two threads, numbered as firmware does it: the first threads of
    /// all cores come first.
    #[test]
    fn a_tree_is_read() {
        let pair = |first: usize| format!("{first},{}", first + 4);
        let topology = tree(
            "usual",
            8,
            &[
                (PACKAGE, &|id| (id % 4 / 2).to_string()),
                (CORE, &|id| (id % 2).to_string()),
                (THREADS, &|id| pair(id % 4)),
                ("system/cpu/cpu{id}/cache/index0/level", &|_| "1".into()),
                ("system/cpu/cpu{id}/cache/index0/shared_cpu_list", &|id| pair(id % 4)),
                ("system/cpu/cpu{id}/cache/index3/level", &|_| "3".into()),
                ("system/cpu/cpu{id}/cache/index3/shared_cpu_list", &|id| pair(id % 4 / 2 * 2)),
                ("system/node/node0/cpulist", &|_| "0-1,4-5".into()),
                ("system/node/node1/cpulist", &|_| "2-3,6-7".into()),
            ],
        );
        let topology = topology.only(&[0, 1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(ids(topology.cores()), [vec![0, 4], vec![1, 5], vec![2, 6], vec![3]]);
        assert_eq!(ids(topology.nodes()), [vec![0, 4, 1, 5], vec![2, 6, 3]]);
        assert!(topology.cpus().iter().all(|cpu| cpu.cache == cpu.id % 4 / 2 * 2));
    }

    /// The cores of a package's dies, clusters or books are numbered from 0 each.
    #[test]
    fn cores_may_have_the_same_number() {
        let of_level_2 = |pair: bool| {
            tree(
                "dies",
                8,
                &[
                    (PACKAGE, &|_| "0".into()),
                    (CORE, &|id| (id % 4).to_string()),
                    ("system/cpu/cpu{id}/topology/thread_siblings_list", &|id| id.to_string()),
                    ("system/cpu/cpu{id}/cache/index2/level", &|_| "2".into()),
                    ("system/cpu/cpu{id}/cache/index2/shared_cpu_list", &|id| {
                        if pair { format!("{},{}", id & !1, id | 1) } else { id.to_string() }
                    }),
                ],
            )
        };
        let topology = of_level_2(true);
        assert_eq!(topology.cores().len(), 8);
        assert!(topology.cpus().iter().all(|cpu| cpu.cache == cpu.id & !1));
        assert!(of_level_2(false).cpus().iter().all(|cpu| cpu.cache == 0), "a core's own");
    }

    #[test]
    fn the_fastest_cores_come_first() {
        let capacity = |id: usize| [446, 1024, 871][id / 2].to_string();
        let arm = tree("arm", 6, &[("system/cpu/cpu{id}/cpu_capacity", &capacity)]);
        assert_eq!(numbers_in_order(&arm), [2, 3, 4, 5, 0, 1]);
        let hybrid: [(&str, &dyn Fn(usize) -> String); 2] =
            [(CORE, &|id| id.to_string()), ("cpu_atom/cpus", &|_| "0-2".into())];
        assert_eq!(numbers_in_order(&tree("hybrid", 6, &hybrid)), [3, 4, 5, 0, 1, 2]);
    }

    fn numbers_in_order(topology: &Topology) -> Vec<usize> {
        topology.cpus().iter().map(|cpu| cpu.id).collect()
    }

    #[test]
    fn this_machine_has_a_cpu() {
        let topology = Topology::usable().unwrap();
        assert!(!topology.cpus().is_empty());
        assert_eq!(topology.cores().concat().len(), topology.cpus().len());
    }
}
